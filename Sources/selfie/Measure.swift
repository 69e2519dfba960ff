import ArgumentParser
import Logging
import SelfieConfiguration
import SelfieOperations
import SelfiePhotos

struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Learn the width and height of photos that were stored without them.",
        discussion: """
            New photos are measured when they arrive. Run this once after you moved from railsauth or from a version \
            before 0.14. The service may run meanwhile. It reads the first bytes of each photo that has no size yet, \
            and keeps the size in the database.
            """
    )

    func run() async throws {
        let configuration = try ServiceConfiguration(from: try ConfigurationSource.ofThisCommand())
        let bar = ProgressBar()
        let result: TaskResult<OutcomeCounts<MeasurePhoto.Outcome>>
        do {
            result = try await Installation.measure(
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
        let rows = MeasurePhoto.Outcome.allCases.map { [$0.title, "\(result.report[$0])"] }
        print(TextTable.text([["", "PHOTOS"]] + rows, rightAligned: [1]))
        if let failure = result.failure { throw failure }
    }
}

extension MeasurePhoto.Outcome {
    /// As a line of the table.
    fileprivate var title: String {
        switch self {
        case .measured: "Measured"
        case .noImage: "Not a whole photo"
        case .missing: "Missing object"
        case .refused: "Refused by the store"
        }
    }

    /// Why the object of a photo can't be read; nil if it can.
    fileprivate var cause: String? {
        switch self {
        case .measured, .noImage: nil
        case .missing: "the object of this photo is missing"
        case .refused: "the store refuses to send the object of this photo"
        }
    }
}
