import ArgumentParser
import Logging
import SelfieConfiguration
import SelfieOperations
import SelfiePhotos

struct Strip: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove the metadata of photos that were stored with it.",
        discussion: """
            Photos tell where, when and with what they were taken. New uploads are stored without that, unless \
            PHOTO_METADATA is keep. This command does the same to photos that were stored earlier. The pixels stay the \
            same. There is no way back. The service may keep running, if all its processes have this version. You may \
            interrupt the command: the next run continues. Each photo gets a new object. The store deletes the old one \
            after two hours and a quarter, when no address leads to it any more.
            """
    )

    @Flag(help: "Only count the photos that have metadata, and change nothing.")
    var dryRun = false

    func run() async throws {
        let configuration = try ServiceConfiguration(from: try ConfigurationSource.ofThisCommand())
        let counts = try await runPhotoTask { onProgress, onOutcome in
            try await Installation.strip(
                isDryRun: dryRun,
                configuration: configuration,
                logger: makeLogger(level: .warning),
                onProgress: onProgress,
                onOutcome: onOutcome
            )
        }
        if dryRun { StandardError.write("This was a dry run: nothing was changed.\n") }
        if counts[.noImage] + counts[.missing] + counts[.refused] > 0 { throw ExitCode.failure }
    }
}

extension StripPhoto.Outcome: PhotoOutcome {
    var title: String {
        switch self {
        case .stripped: "With metadata"
        case .clean: "Without metadata"
        case .done: "Done or deleted meanwhile"
        case .noImage: "Not a whole photo"
        case .missing: "Missing object"
        case .refused: "Refused by the store"
        }
    }

    var cause: String? {
        switch self {
        case .stripped, .clean, .done: nil
        case .noImage: "this is no whole photo, so its metadata stays"
        case .missing: "the object of this photo is missing"
        case .refused: "the store refuses to send the object of this photo"
        }
    }
}
