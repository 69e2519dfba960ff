import ArgumentParser
import Logging
import SelfieConfiguration
import SelfieOperations

struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy all photos from the folder to the bucket, or back.",
        discussion: """
            Needs OBJECTS_PATH as well as the keys of the bucket. The service may run meanwhile and go on using the store \
            that is copied from. What the other has already, compared by checksum, is not copied again, so run it as \
            often as you like: once before you change the service's settings, and once after, for what was uploaded in \
            between. Nothing is deleted from the store that is copied from.
            """
    )

    @Option(help: "Where photos are copied to: disk or s3.")
    var to: CopyDirection

    func run() async throws {
        let configuration = try ServiceConfiguration.copying(from: try await ConfigurationSource())
        let bar = ProgressBar()
        let report: CopyReport
        do {
            report = try await Installation.copy(
                to,
                configuration: configuration,
                logger: makeLogger(level: .warning),
                onProgress: { bar.show($0) },
                onOutcome: { outcome, randomID in
                    guard let sentence = outcome.complaint else { return }
                    bar.clear()
                    print("\(sentence): \(randomID)")
                }
            )
        } catch {
            bar.clear()
            throw error
        }
        bar.clear()
        print(CopyTable.text(report))
        if !report.isComplete { throw ExitCode.failure }
    }
}

extension CopyDirection: ExpressibleByArgument {}

/// The table that `photos copy` ends with.
enum CopyTable {
    static func text(_ report: CopyReport) -> String {
        let rows = CopyOutcome.allCases.map { [$0.title, "\(report[$0])"] }
        return TextTable.text([["", "PHOTOS"]] + rows, rightAligned: [1])
    }
}

extension CopyOutcome {
    /// As a line of the table.
    fileprivate var title: String {
        switch self {
        case .copied: "Copied"
        case .alreadyThere: "Already there"
        case .deleted: "Deleted meanwhile"
        case .missing: "Missing in both"
        case .damaged: "Damaged, not copied"
        }
    }

    /// The line for a single photo; nil if all is well.
    fileprivate var complaint: String? {
        switch self {
        case .copied, .alreadyThere, .deleted: nil
        case .missing: "neither store has this photo"
        case .damaged: "this photo has not the length that was uploaded"
        }
    }
}
