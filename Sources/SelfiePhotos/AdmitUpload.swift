package import Budgets
package import SelfieAccounts

/// Lets a user upload a photo, unless there are too many uploads or photos.
package struct AdmitUpload: Sendable {
    let permits: Permits<Uploader>
    let photos: PhotoStore
    let quota: PhotoQuota
    let limiter: RateLimiter

    /// Acquires a permit for an upload, which may yet be refused for its session.
    ///
    /// - Parameter uploader: Who uploads.
    /// - Returns: The permit. Drop it when the upload has ended.
    /// - Throws: `TooBusy`.
    package func permit(for uploader: Uploader) throws(TooBusy) -> Permit<Uploader> {
        try permits.acquire(for: uploader)
    }

    /// Admits an upload, and counts it, before its body is read.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - sessionID: The user's session.
    ///   - minBytes: The least number of bytes that the photo will have.
    ///   - key: The client's key for the upload.
    ///   - source: Where the request came from.
    /// - Throws: `PhotoError.noRoom`, `.keyInUse`, `.keyDeleted`, `RateLimitExceeded`, `PostgresError`.
    package func callAsFunction(
        userID: Int,
        sessionID: Int,
        minBytes: Int,
        key: UploadKey?,
        from source: RequestSource
    ) async throws {
        var known: KeyedUpload?
        if let key { known = try await photos.upload(with: key, ofUser: userID, sessionID: sessionID) }
        switch known {
        case .underWay: throw PhotoError.keyInUse
        case .deleted: throw PhotoError.keyDeleted
        // The photo is there already, so it needs no room.
        case .stored: break
        case nil:
            guard try await photos.hasRoom(forBytes: minBytes, ofUser: userID, within: quota) else {
                throw PhotoError.noRoom
            }
        }
        try await limiter.count([.upload(userID: userID)], ofUser: userID, from: source)
    }
}

/// The holder of permits for uploads.
///
/// Expired sessions of a user are another holder. So an old token takes no permit from its owner.
package enum Uploader: Hashable, Sendable {
    case user(Int)
    case expired(userID: Int)
}
