import ArgumentParser
import Logging
import SelfieConfiguration
import SelfieOperations
import SelfiePhotos

struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read the width and height of photos that were stored without them.",
        discussion: """
            New photos are measured when they arrive. Run this once after you moved from railsauth or from a version \
            before 0.14. The service may keep running. The command reads the first bytes of each photo that has no \
            size yet, and stores the size in the database.
            """
    )

    func run() async throws {
        let configuration = try ServiceConfiguration(from: try ConfigurationSource.ofThisCommand())
        _ = try await runPhotoTask { onProgress, onOutcome in
            try await Installation.measure(
                configuration: configuration,
                logger: makeLogger(level: .warning),
                onProgress: onProgress,
                onOutcome: onOutcome
            )
        }
    }
}

extension MeasurePhoto.Outcome: PhotoOutcome {
    var title: String {
        switch self {
        case .measured: "Measured"
        case .noImage: "Not a whole photo"
        case .missing: "Missing object"
        case .refused: "Refused by the store"
        }
    }

    var cause: String? {
        switch self {
        case .measured, .noImage: nil
        case .missing: "the object of this photo is missing"
        case .refused: "the store refuses to send the object of this photo"
        }
    }
}
