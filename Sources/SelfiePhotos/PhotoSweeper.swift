package import FoundationEssentials
package import Logging
package import ObjectStore
import Outages
import S3
import Synchronization

/// Finishes or undoes work that crashes and failures left unfinished.
///
/// Any number of processes may do so at once.
package final class PhotoSweeper: Sendable {
    private let photos: PhotoStore
    private let objects: any ObjectStore
    private let reportLosses: @Sendable () async throws -> Void
    private let now: @Sendable () -> Date
    private let sweeps: OutageReport
    private let store: OutageReport
    private let deletions: OutageReport
    private let logger: Logger
    /// Whether the store was prepared.
    private let isPrepared = Atomic(false)

    /// - Parameters:
    ///   - photos: The rows.
    ///   - objects: The store.
    ///   - now: The time, which the store's files are dated by.
    ///   - logger: Logs when work begins to fail, and when it works again.
    ///   - reportLosses: Adds changes for the readers of records whose photo was lost.
    package init(
        photos: PhotoStore,
        objects: any ObjectStore,
        now: @escaping @Sendable () -> Date = { Date() },
        logger: Logger,
        reportLosses: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.photos = photos
        self.reportLosses = reportLosses
        self.objects = objects
        self.now = now
        self.logger = logger
        sweeps = OutageReport(
            failing: "sweeps fail and will be tried again",
            over: "sweeps work again",
            logger: logger
        )
        store = OutageReport(
            failing: "the store can't be reached",
            over: "the store can be reached again",
            logger: logger
        )
        deletions = OutageReport(
            failing: "deletions wait for the store",
            over: "deletions work again",
            logger: logger
        )
    }

    /// Sweeps, and logs failures instead of throwing them.
    package func sweepOrWarn() async {
        // A process that only redirects sends no other request that would learn the region and the clock.
        if !isPrepared.load(ordering: .relaxed) { isPrepared.store(await prepare(), ordering: .relaxed) }
        let failures = await runSteps()
        // Work that the end of the service interrupted did not fail.
        if Task.isCancelled { return }
        if failures.isEmpty { return sweeps.succeeded() }
        sweeps.failed(failures.map { "\($0.step): \($0.error)" }.joined(separator: "; "))
    }

    /// Prepares the store: learns a bucket's region and clock.
    ///
    /// - Returns: Whether the store answered. A refusal is an answer: another attempt would get the same.
    private func prepare() async -> Bool {
        do throws(ObjectStoreError) {
            try await objects.prepare()
            store.succeeded()
        } catch {
            // The end of the service interrupted the call, so the store did not fail.
            if Task.isCancelled { return false }
            if error.isMissingBucket {
                logger.warning("there is no bucket yet; the first upload creates it")
            } else if case .unavailable = error {
                store.failed("\(error)", kind: error.kind)
            } else {
                logger.warning("the store does not answer as it should", metadata: ["error": "\(error)"])
            }
            if case .unavailable = error { return false }
        }
        return true
    }

    /// Gives up uploads whose process has ended, and deletes the objects that are due.
    ///
    /// - Throws: `PostgresError` or the store's error of the first step that failed, after the others. Deletions that
    ///   failed stay recorded.
    package func sweep() async throws {
        if let failure = await runSteps().first { throw failure.error }
    }

    /// Runs all steps, so that one that fails stops none of the others.
    private func runSteps() async -> [(step: String, error: any Error)] {
        let steps: [(name: String, run: () async throws -> Void)] = [
            ("pending photos", { try await self.photos.giveUpPending() }),
            ("released photos", { try await self.photos.removeReleased() }),
            ("keys of uploads", { try await self.photos.forgetDeletedKeys() }),
            ("lost photos", { try await self.reportLosses() }),
            ("deletions", { try await self.workOffDeletions() }),
            (
                "leftovers",
                {
                    let date = self.now() - TimeInterval(PhotoStore.maxPendingSeconds)
                    try await self.objects.removeLeftovers(from: date)
                }
            ),
        ]
        var failures: [(step: String, error: any Error)] = []
        for step in steps {
            do { try await step.run() } catch { failures.append((step.name, error)) }
        }
        return failures
    }

    private func workOffDeletions() async throws {
        while true {
            let deletions = try await photos.claimDeletions()
            if deletions.isEmpty { return }
            do {
                try await delete(deletions)
                self.deletions.succeeded()
            } catch let error as ObjectStoreError {
                self.deletions.failed("\(error)", kind: error.kind)
                guard case .unavailable = error else { continue }
                // When the store is down, no attempt is counted. The next sweep is soon.
                return try await photos.releaseDeletions(deletions.map(\.key))
            }
        }
    }

    private func delete(_ deletions: [ObjectDeletion]) async throws {
        let failures = try await objects.delete(deletions)
        try await photos.finishDeletions(deletions.map(\.key).filter { failures[$0] == nil })
        guard !failures.isEmpty else { return }
        logger.warning(
            "objects could not be deleted and will be tried again",
            metadata: ["count": "\(failures.count)"]
        )
    }
}
