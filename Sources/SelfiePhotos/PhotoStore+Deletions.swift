import ObjectStore
package import Postgres
import S3

/// The table `object_deletions`: objects to delete from the store, and when to try next.
///
/// Its `random_id` is the object's key.
extension PhotoStore {
    /// How many deletions one process claims at a time.
    static let deletionBatchSize = 100
    /// The longest pause between two attempts to delete an object.
    static let maxDeletionBackOffSeconds = 600

    /// Claims deletions that are due.
    ///
    /// Other processes skip them until the next attempt is due.
    ///
    /// - Returns: The objects to delete, at most `deletionBatchSize`.
    /// - Throws: `PostgresError`.
    func claimDeletions() async throws -> [ObjectDeletion] {
        let query: PostgresQuery = """
            UPDATE object_deletions SET
                attempts = attempts + 1,
                due_at = now() AT TIME ZONE 'UTC'
                    + make_interval(secs => least(\(Self.maxDeletionBackOffSeconds), 10 * 2 ^ least(attempts, 10)))
            WHERE random_id IN (
                SELECT random_id FROM object_deletions WHERE due_at <= now() AT TIME ZONE 'UTC'
                ORDER BY due_at LIMIT \(Self.deletionBatchSize) FOR UPDATE SKIP LOCKED
            )
            RETURNING random_id, object_version
            """
        return try await postgres.withConnection { connection in
            try await connection.query(query).map(ObjectDeletion.init)
        }
    }

    /// The part of a statement that records the deletion of removed photos' objects.
    ///
    /// The first object of a photo that was stripped may still be there, for the redirects to it. It goes with the photo.
    ///
    /// - Parameters:
    ///   - removed: Names the removed rows, with `random_id`, `object_key` and `object_version`.
    ///   - seconds: When the deletion is due.
    /// - Returns: The part.
    static func deletions(ofAll removed: PostgresQuery, afterSeconds seconds: PostgresQuery = "0") -> PostgresQuery {
        """
        INSERT INTO object_deletions (random_id, object_version, due_at)
        SELECT key, version, now() AT TIME ZONE 'UTC' + make_interval(secs => \(part: seconds))
        FROM \(part: removed) CROSS JOIN LATERAL (
            VALUES (object_key, object_version), (random_id, CASE WHEN object_key IS NULL THEN object_version END)
        ) AS object (key, version)
        WHERE key IS NOT NULL
        ON CONFLICT (random_id) DO UPDATE SET due_at = excluded.due_at,
            object_version = coalesce(excluded.object_version, object_deletions.object_version)
        """
    }

    /// How many objects are to be deleted soon, or could not be deleted.
    ///
    /// Replaced objects that redirects may lead to do not count.
    ///
    /// - Throws: `PostgresError`.
    package func waitingDeletionCount() async throws -> Int {
        let rows = try await postgres.read(
            """
            SELECT count(*) AS count FROM object_deletions
            WHERE attempts > 0 OR due_at <= now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.maxPendingInPartsSeconds))
            """
        )
        return try rows[0].decode("count")
    }

    /// Gives claimed deletions back when the store is down.
    ///
    /// A deletion without an attempt was postponed by `removePending` meanwhile, and must not happen sooner.
    func releaseDeletions(_ randomIDs: [String]) async throws {
        try await postgres.write(
            """
            UPDATE object_deletions SET attempts = attempts - 1, due_at = now() AT TIME ZONE 'UTC'
            WHERE random_id = ANY(\(randomIDs)) AND attempts > 0
            """
        )
    }

    /// Removes deletions whose objects are deleted.
    ///
    /// One without an attempt was postponed by `removePending` meanwhile: the object may have come back.
    func finishDeletions(_ randomIDs: [String]) async throws {
        try await postgres.write(
            """
            DELETE FROM object_deletions
            WHERE random_id = ANY(\(randomIDs)) AND (attempts > 0 OR due_at <= now() AT TIME ZONE 'UTC')
            """
        )
    }

    /// Removes all photos of a user, batch by batch.
    ///
    /// Their objects are deleted later, when no put can bring them back.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - connection: In the transaction that removes the account.
    /// - Throws: `PostgresError`.
    package static func removeAll(ofUser userID: Int, on connection: PostgresConnection) async throws {
        // Uploads lock the library before the photo. Another order could make a deadlock.
        try await connection.execute("SELECT FROM photo_libraries WHERE user_id = \(userID) FOR UPDATE")
        try await connection.executeInBatches { rowCount in
            """
            WITH removed AS (
                DELETE FROM photos WHERE id IN (
                    SELECT id FROM photos WHERE user_id = \(userID) ORDER BY id LIMIT \(rowCount) FOR UPDATE
                ) RETURNING random_id, object_key, object_version, state
            )
            \(part: deletions(
                ofAll: "removed",
                afterSeconds: "CASE WHEN state = 'pending' THEN \(maxPendingInPartsSeconds) ELSE 0 END"
            ))
            """
        }
        // The trigger has just added them.
        try await connection.execute("DELETE FROM deleted_upload_keys WHERE user_id = \(userID)")
    }
}

extension ObjectDeletion {
    /// Reads a row of `object_deletions`.
    init(_ row: PostgresRow) throws(PostgresError) {
        self.init(key: try row.decode("random_id"), versionID: try row.decodeIfPresent("object_version"))
    }
}
