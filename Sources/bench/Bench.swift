import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure Selfie against its parts.",
        subcommands: [Run.self, StaticServer.self],
        defaultSubcommand: Run.self
    )
}
