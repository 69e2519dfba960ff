import ArgumentParser

struct Photos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the photos' bytes.",
        subcommands: [ShowPhoto.self, Reconcile.self, Copy.self, Measure.self, Strip.self]
    )
}
