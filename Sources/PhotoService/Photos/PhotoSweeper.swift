import FoundationEssentials
import Logging
import ServiceLifecycle

/// Finishes or undoes what crashes and failures left half-done, every few seconds.
///
/// Any number of processes may do so at once.
struct PhotoSweeper: Service {
    let photos: PhotoStore
    let objects: any ObjectStore
    let interval: Duration
    let now: @Sendable () -> Date
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isPrepared = await prepare()
            while !Task.isCancelled {
                do {
                    try await sweep()
                } catch {
                    // What was broken off by the end of the service did not fail.
                    if Task.isCancelled { return }
                    logger.warning("a sweep failed and will be tried again", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: interval)
                // A process that only redirects sends no request of its own that would find it out.
                if !isPrepared { isPrepared = await prepare() }
            }
        }
    }

    /// Finds out what must be known of the store.
    ///
    /// - Returns: Whether the store answered, be it by a refusal, which another try would get as well.
    private func prepare() async -> Bool {
        do throws(ObjectStoreError) {
            try await objects.prepare()
        } catch {
            // What was broken off by the end of the service says nothing of the store.
            if Task.isCancelled { return false }
            if error.isMissingBucket {
                logger.warning("there is no bucket yet; the first upload makes it")
            } else {
                logger.warning("the store does not answer as it should", metadata: ["error": "\(error)"])
            }
            if case .unavailable = error { return false }
        }
        return true
    }

    /// Gives up uploads whose process is gone, and works off the deletions that are due.
    ///
    /// - Throws: `PostgresError`; what could not be done stays written down.
    func sweep() async throws {
        try await photos.giveUpPending()
        try await workOffDeletions()
        try await objects.removeLeftovers(from: now() - TimeInterval(PhotoStore.pendingSecondsMax))
    }

    private func workOffDeletions() async throws {
        while true {
            let randomIDs = try await photos.claimDeletions()
            if randomIDs.isEmpty { return }
            do {
                try await delete(randomIDs)
            } catch let error as ObjectStoreError {
                logger.warning("deletions wait for the store", metadata: ["error": "\(error)"])
                guard case .unavailable = error else { continue }
                // A store that is down costs no object an attempt; the next sweep is soon.
                return try await photos.releaseDeletions(randomIDs)
            }
        }
    }

    private func delete(_ randomIDs: [String]) async throws {
        let failures = try await objects.delete(keys: randomIDs)
        try await photos.finishDeletions(randomIDs.filter { failures[$0] == nil })
        guard !failures.isEmpty else { return }
        logger.warning(
            "objects could not be deleted and will be tried again",
            metadata: ["count": "\(failures.count)"]
        )
    }
}
