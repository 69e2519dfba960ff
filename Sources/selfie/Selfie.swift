import ArgumentParser
@main
struct Selfie: AsyncParsableCommand { mutating func run() async throws {} }
