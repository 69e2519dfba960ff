package import Logging
import ObjectStore

/// Stores a photo: pending row, then object, then ready row, so that a crash at any point can be undone.
package struct UploadPhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore

    /// Stores a photo whole or not at all.
    ///
    /// - Parameters:
    ///   - new: The photo, checked.
    ///   - sessionID: The session that it came with.
    ///   - logger: The request's.
    /// - Returns: The photo, which its owner can see from now on.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PhotoError.givenUp`, `PostgresError`,
    ///   `ObjectStoreError`; nothing is left behind that the sweeper does not remove.
    package func callAsFunction(_ new: NewPhoto, sessionID: Int, logger: Logger) async throws -> Photo {
        let randomID = new.photo.randomID
        guard try await photos.addPending(new, sessionID: sessionID) else { throw SessionError.ended }
        do {
            try await objects.put(new.object, key: randomID, contentType: new.format.contentType)
            guard try await photos.makeReady(randomID) else { throw PhotoError.givenUp }
            return new.photo
        } catch {
            await undo(randomID, logger: logger)
            throw error
        }
    }

    /// Takes the row back; the sweeper deletes the object, since a store that just failed is not worth waiting for.
    private func undo(_ randomID: String, logger: Logger) async {
        do {
            try await photos.removePending(randomID)
        } catch {
            logger.warning("a failed upload is left to the sweeper", metadata: ["error": "\(error)"])
        }
    }
}
