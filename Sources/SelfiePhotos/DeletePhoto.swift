package import Logging
import ObjectStore
package import SelfieAccounts

/// Removes a photo: first its row, then its object.
package struct DeletePhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore
    var notifier: ChangeNotifier?

    /// Removes a photo of a user's.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - userID: The id of the user who must own it.
    ///   - source: Where the request came from.
    ///   - logger: The request's.
    /// - Returns: Whether there was one. Of parallel calls, only one gets true.
    /// - Throws: `PostgresError`.
    package func callAsFunction(
        _ randomID: String,
        ofUser userID: Int,
        from source: RequestSource,
        logger: Logger
    ) async throws -> Bool {
        guard let object = try await photos.remove(randomID, ofUser: userID, from: source) else { return false }
        notifier?.notify([.user(userID)])
        do {
            try await objects.delete(object)
            try await photos.finishDeletions([randomID])
        } catch {
            // The owner no longer sees the photo. Its key is recorded, so the sweeper deletes the object.
            logger.warning("a deletion is left to the sweeper", metadata: ["error": "\(error)"])
        }
        return true
    }
}
