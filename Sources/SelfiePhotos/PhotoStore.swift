import FoundationEssentials
import ImageFiles
import ObjectStore
package import Postgres
import S3
import SelfieAccounts

/// The tables `photos` and `object_deletions`.
///
/// A photo is pending until its object is stored. Then it is ready, which means in its owner's list, or unlisted. A statement that removes
/// a photo also records its key in `object_deletions`, so no crash can lose it.
package struct PhotoStore: Sendable {
    package let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// How long a photo may be pending: longer than storing its object with all retries.
    static let maxPendingSeconds = 40
    /// The same for a photo that goes to a bucket in parts.
    package static let maxPendingInPartsSeconds = 80
    /// How long the object of a failed put may still appear: a store that was halted may finish its work later.
    static let settlingSeconds = 20

    /// What serving a photo needs.
    ///
    /// Nil if its owner's account is disabled.
    ///
    /// - Parameter randomID: The photo's id. It holds no NUL, which PostgreSQL's text can't hold.
    /// - Returns: nil when there is no such photo to serve.
    /// - Throws: `PostgresError`.
    package func servedPhoto(_ randomID: String) async throws -> ServedPhoto? {
        let row = try await postgres.lookUp(Self.servedPhotoByID, key: Array(randomID.utf8))
        return try row.map { try Self.servedPhoto(randomID, $0) }
    }

    /// Reads a row with ``servedColumns``.
    static func servedPhoto(_ randomID: String, _ row: PostgresRow) throws -> ServedPhoto {
        let createdAt: Date? = try row.decodeIfPresent("created_at")
        let objectKey: String = try row.decode("object_key")
        return ServedPhoto(
            randomID: randomID,
            objectKey: objectKey,
            tag: objectKey,
            fileName: try row.decode("name"),
            contentType: try row.decodeIfPresent("content_type"),
            byteCount: try row.decodeIfPresent("byte_count"),
            // Another object has been stored later.
            createdAt: objectKey == randomID ? createdAt.map { Int($0.timeIntervalSince1970.rounded(.down)) } : nil,
            urlSeries: try row.decode("url_series")
        )
    }

    static let servedColumns = """
        name, photos.content_type, photos.byte_count, photos.created_at, coalesce(url_series, 0) AS url_series,
        coalesce(photos.object_key, random_id)::text AS object_key
        """

    static let servedPhotoByID = PostgresLookup(
        columns: servedColumns,
        source: """
            FROM photos JOIN users ON users.id = user_id LEFT JOIN photo_libraries USING (user_id)
            WHERE random_id = convert_from(asked.key, 'UTF8') COLLATE "default" AND state <> 'pending' AND disabled_at IS NULL
            """
    )

    /// Stores the facts of a photo's object.
    ///
    /// What is known already stays as it is.
    ///
    /// - Parameters:
    ///   - facts: The facts of the object.
    ///   - randomID: The photo's id.
    /// - Throws: `PostgresError`.
    func keep(_ facts: PhotoFacts, of randomID: String) async throws {
        try await postgres.write(
            """
            WITH library AS MATERIALIZED (
                SELECT user_id FROM photo_libraries
                WHERE user_id = (SELECT user_id FROM photos WHERE random_id = \(randomID)) FOR NO KEY UPDATE
            )
            UPDATE photos SET content_type = coalesce(content_type, \(facts.contentType)),
                byte_count = coalesce(photos.byte_count, \(facts.byteCount)),
                width = coalesce(width, \(facts.size?.width)), height = coalesce(height, \(facts.size?.height))
            FROM library
            WHERE random_id = \(randomID) AND photos.user_id = library.user_id AND state <> 'pending'
                AND (content_type IS NULL OR width IS NULL)
            """
        )
    }

    /// Adds a photo as pending.
    ///
    /// - Parameters:
    ///   - new: The photo.
    ///   - sessionID: The session of the upload. It may have ended during the upload.
    /// - Returns: Whether it was added; false when the session has ended, the user's account is deleted, or a photo has
    ///   the upload's key.
    /// - Throws: `PostgresError`.
    func addPending(_ new: NewPhoto, sessionID: Int) async throws -> Bool {
        // The user's row is locked before the session's, as in the deletion of an account. Another order could make a
        // deadlock. So could a library that is made when the photo is locked already.
        let count = try await postgres.write(
            """
            WITH owner AS MATERIALIZED (SELECT id FROM users WHERE id = \(new.userID) FOR KEY SHARE),
            library AS (INSERT INTO photo_libraries (user_id) SELECT id FROM owner ON CONFLICT DO NOTHING)
            INSERT INTO photos (user_id, name, title, random_id, content_type, byte_count, width, height, state, is_stripped,
                upload_key, upload_digest)
            SELECT user_id, \(new.name), \(new.title), \(new.randomID), \(new.image.format.contentType), \(new.object.length),
                \(new.image.size.width), \(new.image.size.height), 'pending', \(new.isStripped), \(new.key?.digest), \(new.digest)
            FROM owner JOIN sessions ON user_id = owner.id WHERE sessions.id = \(sessionID) FOR KEY SHARE OF sessions
            ON CONFLICT (user_id, upload_key) WHERE upload_key IS NOT NULL DO NOTHING
            """
        )
        return count == 1
    }

    /// Shows a pending photo to its owner.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - versionID: The version of its object, for the deletion.
    ///   - isListed: Whether it is in its owner's list. An unlisted photo is deleted when nothing refers to it.
    ///   - quota: What a user may have.
    ///   - sessionID: The session that uploads it; nil for none.
    /// - Returns: The photo, as a list has it.
    /// - Throws: `PhotoError.givenUp` when the photo was pending for too long, `.noRoom` when other uploads have used up
    ///   the quota meanwhile, `.keyDeleted` when the first photo with its key was deleted meanwhile, `PostgresError`.
    func makeReady(
        _ randomID: String,
        versionID: String?,
        isListed: Bool = true,
        within quota: PhotoQuota,
        by sessionID: Int? = nil
    ) async throws -> StoredPhoto {
        // Parallel uploads of a user wait here for each other, so that they can't pass the quota together.
        let query: PostgresQuery = """
            WITH room AS MATERIALIZED (
                SELECT library.user_id, url_series, \(part: Self.noting(sessionID))
                FROM photo_libraries AS library JOIN photos AS pending USING (user_id)
                WHERE random_id = \(randomID) AND \(part: quota.hasRoom(forBytes: "pending.byte_count"))
                    AND NOT \(part: Self.isDeletedKey(of: "pending"))
                FOR NO KEY UPDATE OF library
            ), release AS (
                \(part: isListed ? "SELECT" : Self.firstRelease(of: randomID))
            )
            UPDATE photos SET state = \(isListed ? "ready" : "unlisted"), object_version = \(versionID) FROM room
            WHERE random_id = \(randomID) AND state = 'pending' AND photos.user_id = room.user_id
            RETURNING url_series, \(part: PhotoRows.columns)
            """
        let rows = try await postgres.withConnection { try await $0.query(query) }
        guard let row = rows.first else {
            throw try await reasonNotReady(randomID)
        }
        return StoredPhoto(row: try PhotoRows(rows), urlSeries: try row.decode("url_series"))
    }

    /// Notes in a transaction which session changes photos: its devices are not told of that.
    private static func noting(_ sessionID: Int?) -> PostgresQuery {
        "set_config('selfie.session', coalesce(\(sessionID)::bigint::text, ''), true)"
    }

    /// Whether a user may have another photo.
    ///
    /// - Parameters:
    ///   - bytes: The least number of bytes that it will have.
    ///   - userID: The user's id.
    ///   - quota: What a user may have.
    /// - Returns: Whether there is room. It is not reserved.
    /// - Throws: `PostgresError`.
    func hasRoom(forBytes bytes: Int, ofUser userID: Int, within quota: PhotoQuota) async throws -> Bool {
        let rows = try await postgres.read(
            """
            SELECT \(part: quota.hasRoom(forBytes: "\(bytes)")) AS has_room
            FROM (SELECT \(userID)::bigint) AS asking (user_id) LEFT JOIN photo_libraries AS library USING (user_id)
            """
        )
        return try rows[0].decode("has_room")
    }

    /// Removes a photo that could not be stored.
    ///
    /// Its object is deleted when no put can bring it back.
    ///
    /// If the photo was given up meanwhile, its object is deleted again: the put may have ended after the first
    /// deletion. If only the answer of `makeReady` was lost, the photo is ready and stays. The statement must not read
    /// the state first: it may have begun before `makeReady` ended.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - versionID: The version of its object, if it was stored.
    /// - Throws: `PostgresError`.
    func removePending(_ randomID: String, versionID: String?) async throws {
        try await postgres.write(
            """
            WITH removed AS (DELETE FROM photos WHERE random_id = \(randomID) AND state = 'pending' RETURNING random_id)
            INSERT INTO object_deletions (random_id, object_version, due_at)
            SELECT \(randomID), \(versionID), now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.settlingSeconds))
            WHERE EXISTS (SELECT FROM removed) OR NOT EXISTS (SELECT FROM photos WHERE random_id = \(randomID))
            ON CONFLICT (random_id) DO UPDATE SET due_at = excluded.due_at, attempts = 0,
                object_version = coalesce(excluded.object_version, object_deletions.object_version)
            """
        )
    }

    /// Removes a photo of a user's.
    ///
    /// Of parallel calls, one succeeds.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - userID: The id of the user who must own it.
    ///   - source: Where the request came from.
    ///   - sessionID: The session that removes it; nil for none.
    /// - Returns: Its objects, which are to be deleted; none when there was no such photo.
    /// - Throws: `PostgresError`.
    func remove(
        _ randomID: String,
        ofUser userID: Int,
        from source: RequestSource,
        by sessionID: Int? = nil
    ) async throws -> [ObjectDeletion] {
        // PostgreSQL's text can't hold NUL, so no photo's id has one.
        guard !randomID.unicodeScalars.contains("\0") else { return [] }
        // The library is locked before the photo, as in uploads. Another order could make a deadlock.
        let query: PostgresQuery = """
            WITH library AS MATERIALIZED (
                SELECT user_id, \(part: Self.noting(sessionID)) FROM photo_libraries WHERE user_id = \(userID) FOR NO KEY UPDATE
            ), removed AS (
                DELETE FROM photos USING library
                WHERE random_id = \(randomID) AND photos.user_id = library.user_id AND state <> 'pending'
                RETURNING random_id, object_key, object_version, photos.user_id
            ), audited AS (
                \(part: AuditStore.insertion(of: .photoDeleted, from: source, forEach: "SELECT user_id FROM removed"))
            )
            \(part: Self.deletions(ofAll: "removed"))
            RETURNING random_id, object_version
            """
        return try await postgres.withTransaction { connection in
            try await SchemaLock.share(on: connection)
            return try await connection.query(query).map(ObjectDeletion.init)
        }
    }

    /// Gives up photos that were pending for too long: their uploads have ended.
    func giveUpPending() async throws {
        try await postgres.write(
            """
            WITH removed AS (
                DELETE FROM photos
                WHERE state = 'pending'
                    AND created_at < now() AT TIME ZONE 'UTC' - make_interval(secs =>
                        CASE WHEN byte_count > \(S3UploadPolicy().maxSinglePutBytes)
                        THEN \(Self.maxPendingInPartsSeconds) ELSE \(Self.maxPendingSeconds) END)
                RETURNING random_id
            )
            INSERT INTO object_deletions (random_id) SELECT random_id FROM removed
            ON CONFLICT (random_id) DO UPDATE SET due_at = excluded.due_at
            """
        )
    }
}
