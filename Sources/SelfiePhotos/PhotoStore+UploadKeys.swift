import Postgres
import SelfieAccounts

/// Clients' keys for uploads: columns of `photos`, and the table `deleted_upload_keys`.
///
/// A trigger adds to that table the keys of photos that are deleted.
extension PhotoStore {
    /// How long a key lives after its photo was deleted.
    static let deletedKeySeconds = 24 * 60 * 60

    /// The photo that an upload with a key has made, or is making.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - userID: Whose key it is. Other users may have the same.
    ///   - sessionID: A session of the user's.
    /// - Returns: nil when no upload had the key, or when the last one failed.
    /// - Throws: `SessionError.ended`, `PostgresError`.
    func upload(with key: UploadKey, ofUser userID: Int, sessionID: Int) async throws -> KeyedUpload? {
        let rows = try await postgres.read(
            """
            SELECT photo.*,
                coalesce((SELECT url_series FROM photo_libraries WHERE user_id = \(userID)), 0) AS url_series,
                EXISTS (SELECT FROM deleted_upload_keys AS deleted
                    WHERE deleted.user_id = \(userID) AND deleted.upload_key = \(key.digest)) AS is_deleted
            FROM sessions LEFT JOIN LATERAL (
                SELECT state, upload_digest, \(part: PhotoRows.columns) FROM photos
                WHERE photos.user_id = \(userID) AND upload_key = \(key.digest)
            ) AS photo ON true
            WHERE sessions.id = \(sessionID) AND sessions.user_id = \(userID)
            """
        )
        guard let row = rows.first else { throw SessionError.ended }
        switch try row.decodeIfPresent("state", as: String.self) {
        case nil: return try row.decode("is_deleted") ? .deleted : nil
        case "pending": return .underWay
        default:
            let photo = StoredPhoto(
                isEarlier: true,
                row: try PhotoRows(rows),
                urlSeries: try row.decode("url_series")
            )
            return .stored(photo, digest: try row.decode("upload_digest"))
        }
    }

    /// Whether the key of a row of `photos` is one of a deleted photo.
    static func isDeletedKey(of photo: PostgresQuery) -> PostgresQuery {
        """
        EXISTS (SELECT FROM deleted_upload_keys AS deleted
            WHERE deleted.user_id = \(part: photo).user_id AND deleted.upload_key = \(part: photo).upload_key)
        """
    }

    /// Why a photo was not made ready.
    ///
    /// - Parameter randomID: The photo's id.
    /// - Returns: The reason.
    /// - Throws: `PostgresError`.
    func reasonNotReady(_ randomID: String) async throws -> PhotoError {
        let rows = try await postgres.read(
            """
            SELECT \(part: Self.isDeletedKey(of: "photos")) AS is_deleted FROM photos
            WHERE random_id = \(randomID) AND state = 'pending'
            """
        )
        guard let row = rows.first else { return .givenUp }
        return try row.decode("is_deleted") ? .keyDeleted : .noRoom
    }

    /// Removes the keys of photos that were deleted a day ago.
    ///
    /// - Throws: `PostgresError`.
    func forgetDeletedKeys() async throws {
        try await postgres.write(
            """
            DELETE FROM deleted_upload_keys
            WHERE deleted_at < now() AT TIME ZONE 'UTC' - make_interval(secs => \(Self.deletedKeySeconds))
            """
        )
    }
}
