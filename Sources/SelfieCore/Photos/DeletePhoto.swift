package import Logging
import ObjectStore

/// Removes a photo: first from its owner's sight, then its object.
package struct DeletePhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore

    /// Removes a photo of a user's.
    ///
    /// - Parameters:
    ///   - randomID: Which photo.
    ///   - userID: Whose it must be.
    ///   - source: Where the request came from.
    ///   - logger: The request's.
    /// - Returns: Whether there was one; of parallel calls, one is told so.
    /// - Throws: `PostgresError`.
    package func callAsFunction(
        _ randomID: String,
        ofUser userID: Int,
        from source: RequestSource,
        logger: Logger
    ) async throws -> Bool {
        guard try await photos.remove(randomID, ofUser: userID, from: source) else { return false }
        do {
            try await objects.delete(key: randomID)
            try await photos.finishDeletions([randomID])
        } catch {
            // The photo is gone for its owner; that its object must go too is written down.
            logger.warning("a deletion is left to the sweeper", metadata: ["error": "\(error)"])
        }
        return true
    }
}
