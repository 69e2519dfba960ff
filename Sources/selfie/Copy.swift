import ArgumentParser
import Logging
import SelfieConfiguration
import SelfieOperations

struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy all photos from the folder to the bucket, or back.",
        discussion: """
            Needs OBJECTS_PATH and the keys of the bucket. The service may run meanwhile, and keeps using the first \
            store. Photos that the other store already has, compared by checksum, are not copied again. So run it \
            twice: before you change the service's settings, and after, for photos that were uploaded in between. \
            Nothing is deleted from the first store.
            """
    )

    @Option(help: "The store to copy to: disk or s3.")
    var to: CopyDirection

    func run() async throws {
        let configuration = try ConfigurationSource.ofThisCommand().read { $0.copying() }
        let bar = ProgressBar()
        let result: TaskResult<OutcomeCounts<CopyOutcome>>
        do {
            result = try await Installation.copy(
                to,
                configuration: configuration,
                logger: makeLogger(level: .warning),
                onProgress: { bar.show($0) },
                onOutcome: { outcome, randomID in
                    guard let cause = outcome.cause else { return }
                    bar.clear()
                    print("\(cause): \(randomID)")
                }
            )
        } catch {
            bar.clear()
            throw error
        }
        bar.clear()
        print(CopyTable.text(result.report))
        if let failure = result.failure { throw failure }
        if !result.report.isComplete { throw ExitCode.failure }
    }
}

extension CopyDirection: ExpressibleByArgument {}

/// The table that `photos copy` ends with.
enum CopyTable {
    static func text(_ report: OutcomeCounts<CopyOutcome>) -> String {
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

    /// Why a photo was not copied; nil if that is all right.
    fileprivate var cause: String? {
        switch self {
        case .copied, .alreadyThere, .deleted: nil
        case .missing: "neither store has this photo"
        case .damaged: "this photo has another length than the upload had"
        }
    }
}
