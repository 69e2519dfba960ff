import ArgumentParser
import Logging
import SelfieConfiguration
import SelfieOperations

struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy all photos from the folder to the bucket, or back.",
        discussion: """
            Needs OBJECTS_PATH and the keys of the bucket. The service may keep running, and uses the first store. \
            Photos that the other store already has, compared by checksum, are not copied again. So run it twice: \
            before you change the service's settings, and after, for photos that were uploaded in between. Nothing is \
            deleted from the first store.
            """
    )

    @Option(help: "The store to copy to: disk or s3.")
    var to: CopyDirection

    func run() async throws {
        let configuration = try ConfigurationSource.ofThisCommand().read { $0.copying() }
        let counts = try await runPhotoTask { onProgress, onOutcome in
            try await Installation.copy(
                to,
                configuration: configuration,
                logger: makeLogger(level: .warning),
                onProgress: onProgress,
                onOutcome: onOutcome
            )
        }
        if !counts.isComplete { throw ExitCode.failure }
    }
}

extension CopyDirection: ExpressibleByArgument {}

extension CopyOutcome: PhotoOutcome {
    var title: String {
        switch self {
        case .copied: "Copied"
        case .alreadyThere: "Already there"
        case .deleted: "Deleted meanwhile"
        case .forgotten: "Small pictures to be made again"
        case .missing: "Missing in both"
        case .damaged: "Damaged, not copied"
        }
    }

    var cause: String? {
        switch self {
        case .copied, .alreadyThere, .deleted, .forgotten: nil
        case .missing: "neither store has this photo"
        case .damaged: "this photo has another length than the upload had"
        }
    }
}
