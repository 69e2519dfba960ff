package import Postgres

extension PhotoStore {
    /// Locks photos of some users, so that none can be deleted before it is referred to.
    ///
    /// - Parameters:
    ///   - randomIDs: The photos' ids.
    ///   - userIDs: The users.
    ///   - connection: In a transaction.
    /// - Returns: The rows and owners of those that are stored, listed or not.
    /// - Throws: `PostgresError`.
    package static func lockOwn(
        _ randomIDs: [String],
        ofUsers userIDs: [Int],
        on connection: PostgresConnection
    ) async throws -> [String: (row: Int, userID: Int)] {
        let rows = try await connection.query(
            """
            SELECT id::bigint AS id, user_id::bigint AS user_id, random_id::text AS random_id FROM photos
            WHERE random_id = ANY(\(randomIDs)) AND user_id = ANY(\(userIDs)) AND state <> 'pending'
            ORDER BY id FOR KEY SHARE
            """
        )
        return try rows.reduce(into: [:]) { photos, row in
            photos[try row.decode("random_id")] = (try row.decode("id"), try row.decode("user_id"))
        }
    }

    /// Selects a listed photo with the columns of its owner's list.
    ///
    /// - Parameter id: The photo's row.
    /// - Returns: The statement.
    package static func listed(_ id: PostgresQuery) -> PostgresQuery {
        """
        SELECT \(part: PhotoRows.columns), coalesce(url_series, 0) AS url_series
        FROM photos LEFT JOIN (SELECT user_id, url_series FROM photo_libraries) AS library USING (user_id)
        WHERE photos.id = \(part: id) AND state = 'ready'
        """
    }

    /// The part of a statement that queues a check of an unlisted photo in a day: whether a record refers to it by
    /// then.
    static func firstRelease(of randomID: String) -> PostgresQuery {
        """
        INSERT INTO photo_releases (photo_id, due_at)
        SELECT id, now() AT TIME ZONE 'UTC' + \(unusedHours) * interval '1 hour'
        FROM photos JOIN room USING (user_id) WHERE random_id = \(randomID) AND state = 'pending'
        ON CONFLICT DO NOTHING
        """
    }

    /// How long an unlisted photo waits for the first record that refers to it.
    private static let unusedHours = 24
    /// How many photos one statement looks for.
    private static let releaseBatchSize = 100

    /// Removes unlisted photos to which nothing refers any more.
    ///
    /// Their keys go into `object_deletions`. While a schema is being applied, nothing is done: the next sweep is soon.
    ///
    /// - Throws: `PostgresError`.
    func removeReleased() async throws {
        do { try await removeAllReleased() } catch is SchemaLockTaken {}
    }

    private func removeAllReleased() async throws {
        var last = 0
        while true {
            let due = try await postgres.read(
                """
                SELECT photo_id::bigint AS photo_id, user_id::bigint AS user_id, due_at::text AS due_at
                FROM photo_releases LEFT JOIN photos ON photos.id = photo_id
                WHERE due_at <= now() AT TIME ZONE 'UTC' AND photo_id > \(last)
                ORDER BY photo_id LIMIT \(Self.releaseBatchSize)
                """
            )
            for row in due {
                last = try row.decode("photo_id")
                // A photo that is deleted has no owner.
                try await release(last, ofUser: row.decodeIfPresent("user_id"), dueAt: row.decode("due_at"))
            }
            if due.count < Self.releaseBatchSize { return }
        }
    }

    private func release(_ id: Int, ofUser userID: Int?, dueAt: String) async throws {
        try await postgres.withTransaction { connection in
            try await SchemaLock.shareAtOnce(on: connection)
            // The library is locked before the photo, as everywhere. Another order could make a deadlock.
            try await connection.execute("SELECT FROM photo_libraries WHERE user_id = \(userID) FOR NO KEY UPDATE")
            let photo = try await connection.query("SELECT state FROM photos WHERE id = \(id) FOR UPDATE SKIP LOCKED")
            let isThere = try await !connection.query("SELECT FROM photos WHERE id = \(id)").isEmpty
            // The lock's holder may be about to refer to it. The next sweep looks again.
            if photo.isEmpty, isThere { return }
            // While it is locked, no reference can be added. The removal of a reference has it checked again.
            try await connection.execute(
                """
                WITH removed AS (
                    DELETE FROM photos WHERE id = \(id) AND state = 'unlisted'
                        AND NOT EXISTS (SELECT FROM photo_references WHERE photo_id = \(id))
                        AND NOT EXISTS (SELECT FROM users WHERE picture_id = \(id))
                    RETURNING random_id, object_key, object_version
                ), recorded AS (
                    \(part: Self.deletions(ofAll: "removed"))
                )
                DELETE FROM photo_releases WHERE photo_id = \(id) AND due_at = \(dueAt)::timestamp
                """
            )
        }
    }
}
