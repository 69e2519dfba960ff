package import Logging
import ObjectStore
import S3
package import SelfieAccounts

/// Removes a photo: first its row, then its objects.
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
    ///   - sessionID: The session that removes it; nil for none.
    ///   - logger: The request's.
    /// - Returns: Whether there was one. Of parallel calls, only one gets true.
    /// - Throws: `PostgresError`.
    package func callAsFunction(
        _ randomID: String,
        ofUser userID: Int,
        from source: RequestSource,
        by sessionID: Int? = nil,
        logger: Logger
    ) async throws -> Bool {
        let deletions = try await photos.remove(randomID, ofUser: userID, from: source, by: sessionID)
        guard !deletions.isEmpty else { return false }
        notifier?.notify([.user(userID)])
        do {
            let failures = try await objects.delete(deletions)
            try await photos.finishDeletions(deletions.map(\.key).filter { failures[$0] == nil })
            if let failure = failures.values.first { throw failure }
        } catch {
            // The owner no longer sees the photo. Its keys are recorded, so the sweeper deletes the objects.
            logger.warning("a deletion is left to the sweeper", metadata: ["error": "\(error)"])
        }
        return true
    }
}
