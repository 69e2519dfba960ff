import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure Selfie against its parts.",
        subcommands: [Run.self, FanOutServer.self, PlainService.self],
        defaultSubcommand: Run.self
    )
}
