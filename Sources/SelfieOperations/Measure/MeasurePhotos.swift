import Concurrency
import SelfiePhotos

/// Measures all photos whose size is not known, while services run.
struct MeasurePhotos: Sendable {
    let photos: PhotoStore
    let measure: MeasurePhoto
    let onProgress: @Sendable (TaskProgress) -> Void
    let onOutcome: @Sendable (MeasurePhoto.Outcome, String) -> Void

    /// How many photos are read at a time.
    private static let readsInFlight = 4
    private static let pageSize = 500

    /// Measures the photos.
    ///
    /// - Parameter report: Gets how many photos had each outcome, also when this throws.
    /// - Throws: `ObjectStoreError`, `PostgresError`. Sizes that were stored stay.
    func callAsFunction(into report: inout OutcomeCounts<MeasurePhoto.Outcome>) async throws {
        let total = try await photos.unmeasuredCount()
        var (done, last) = (0, 0)
        while true {
            let page = try await photos.unmeasured(after: last, count: Self.pageSize)
            guard let end = page.last else { return }
            last = end.id
            try await forEachResult(
                of: page.map(\.randomID),
                atOnce: Self.readsInFlight,
                by: { (try await measure($0), $0) }
            ) { outcome, randomID in
                done += 1
                report[outcome] += 1
                onOutcome(outcome, randomID)
                onProgress(TaskProgress(task: "Measuring photos", done: done, total: max(total, done)))
            }
        }
    }
}
