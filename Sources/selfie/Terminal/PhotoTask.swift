import Logging
import SelfieOperations

/// How one photo fared in a task over all photos, as the table and the lines in front of it say.
protocol PhotoOutcome: CaseIterable, Hashable, Sendable {
    /// As a line of the table.
    var title: String { get }
    /// Why a photo needs somebody's attention; nil for none.
    var cause: String? { get }
}

/// Runs a task over all photos with a progress bar, and prints each cause and the table of outcomes.
///
/// - Parameter task: The task, which gets what to call for each photo and for each outcome.
/// - Returns: The counts.
/// - Throws: What the task throws, or what ended it early.
func runPhotoTask<Outcome: PhotoOutcome>(
    _ task: (
        _ onProgress: @escaping @Sendable (TaskProgress) -> Void,
        _ onOutcome: @escaping @Sendable (Outcome, String) -> Void
    ) async throws -> TaskResult<OutcomeCounts<Outcome>>
) async throws -> OutcomeCounts<Outcome> {
    let bar = ProgressBar()
    let result: TaskResult<OutcomeCounts<Outcome>>
    do {
        defer { bar.clear() }
        result = try await task({ bar.show($0) }) { outcome, randomID in
            guard let cause = outcome.cause else { return }
            bar.clear()
            print("\(cause): \(randomID)")
        }
    }
    let rows = Outcome.allCases.map { [$0.title, "\(result.report[$0])"] }
    print(TextTable.text([["", "PHOTOS"]] + rows, rightAligned: [1]))
    if let failure = result.failure { throw failure }
    return result.report
}
