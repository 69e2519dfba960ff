import ArgumentParser

struct Photos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look after the photos' bytes.",
        subcommands: [Reconcile.self, Copy.self, Measure.self]
    )
}
