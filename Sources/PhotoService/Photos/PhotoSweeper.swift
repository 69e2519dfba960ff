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
            while !Task.isCancelled {
                do {
                    try await sweep()
                } catch {
                    logger.warning("a sweep failed and will be tried again", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: interval)
            }
        }
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
            for (index, randomID) in randomIDs.enumerated() {
                do {
                    try await objects.delete(key: randomID)
                    try await photos.finishDeletion(randomID)
                } catch let error as ObjectStoreError {
                    logger.warning("an object could not be deleted and will be tried again")
                    guard case .unavailable = error else { continue }
                    // A store that is down would take its time to say so for each object; the next sweep is soon.
                    for untried in randomIDs[(index + 1)...] { try await photos.releaseDeletion(untried) }
                    return
                }
            }
        }
    }
}
