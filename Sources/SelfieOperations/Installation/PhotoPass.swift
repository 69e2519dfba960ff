import Concurrency

/// Goes through photos while services run, some at a time.
struct PhotoPass<Outcome: Hashable & Sendable>: Sendable {
    /// The task, as the beginning of a line.
    let task: String
    /// How many photos there are.
    let count: @Sendable () async throws -> Int
    /// The photos after a row's id, the oldest first; at most as many as asked for.
    let page: @Sendable (_ id: Int, _ count: Int) async throws -> [(id: Int, randomID: String)]
    /// What is done with a photo.
    let work: @Sendable (_ randomID: String) async throws -> Outcome
    let onProgress: @Sendable (TaskProgress) -> Void
    let onOutcome: @Sendable (Outcome, String) -> Void

    /// How many photos are read at a time.
    private static var readsInFlight: Int { 4 }
    private static var pageSize: Int { 500 }

    /// Goes through the photos.
    ///
    /// The photos of a page come in any order, so that two processes rarely meet at one.
    ///
    /// - Parameter report: Gets how many photos had each outcome, also when this throws.
    /// - Throws: What the work throws, or `PostgresError`. What was done stays done.
    func callAsFunction(into report: inout OutcomeCounts<Outcome>) async throws {
        let total = try await count()
        var (done, last) = (0, 0)
        while true {
            let page = try await page(last, Self.pageSize)
            guard let end = page.last else { return }
            last = end.id
            try await forEachResult(
                of: page.map(\.randomID).shuffled(),
                atOnce: Self.readsInFlight,
                by: { (try await work($0), $0) }
            ) { outcome, randomID in
                done += 1
                report[outcome] += 1
                onOutcome(outcome, randomID)
                onProgress(TaskProgress(task: task, done: done, total: max(total, done)))
            }
        }
    }
}
