import ImageFiles
package import Logging
import ObjectStore
import SelfieAccounts

/// Stores a photo: first a pending row, then the object, then the row is ready.
///
/// So a crash at any point can be undone.
package struct UploadPhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore
    let quota: PhotoQuota
    var notifier: ChangeNotifier?
    var makeRendition: MakeRendition?

    /// Stores a photo whole or not at all.
    ///
    /// - Parameters:
    ///   - new: The photo, checked.
    ///   - sessionID: The session of the upload.
    ///   - logger: The request's.
    /// - Returns: The photo. Its owner can see it from now on. It is an earlier one if its upload had the same key.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PhotoError` other than `.unknownFormat`,
    ///   `PostgresError`, `ObjectStoreError`. The sweeper removes what is left behind.
    package func callAsFunction(_ new: NewPhoto, sessionID: Int, logger: Logger) async throws -> StoredPhoto {
        let randomID = new.randomID
        // A row may be pending only as long as a put lasts.
        let object = try await objects.hashed(new.object)
        guard try await photos.addPending(new, sessionID: sessionID) else {
            return try await earlierPhoto(like: new, sessionID: sessionID)
        }
        var versionID: String?
        do {
            versionID = try await objects.put(object, key: randomID, contentType: new.image.format.contentType)
            let stored = try await photos.makeReady(
                randomID,
                versionID: versionID,
                isListed: new.isListed,
                within: quota,
                by: sessionID
            )
            notifier?.notify([.user(new.userID)])
            makeRendition?.makeLater(of: randomID, userID: new.userID)
            return stored
        } catch {
            await undo(randomID, versionID: versionID, logger: logger)
            throw error
        }
    }

    /// The photo that an earlier upload with the same key has stored.
    private func earlierPhoto(like new: NewPhoto, sessionID: Int) async throws -> StoredPhoto {
        guard let key = new.key else { throw SessionError.ended }
        switch try await photos.upload(with: key, ofUser: new.userID, sessionID: sessionID) {
        case .stored(let photo, digest: new.digest): return photo
        case .stored: throw PhotoError.keyReused
        case .deleted: throw PhotoError.keyDeleted
        // Without an upload, the other one has just failed.
        case .underWay, nil: throw PhotoError.keyInUse
        }
    }

    /// Removes the row.
    ///
    /// The sweeper deletes the object later, because the store has just failed.
    private func undo(_ randomID: String, versionID: String?, logger: Logger) async {
        do {
            try await photos.removePending(randomID, versionID: versionID)
        } catch {
            logger.warning("a failed upload is left to the sweeper", metadata: ["error": "\(error)"])
        }
    }
}
