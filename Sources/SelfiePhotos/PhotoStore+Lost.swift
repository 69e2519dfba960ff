import Postgres

/// Photos whose objects are missing.
extension PhotoStore {
    /// Whether a photo is ready.
    package func isReady(_ randomID: String) async throws -> Bool {
        try await !postgres.read("SELECT FROM photos WHERE random_id = \(randomID) AND state <> 'pending'").isEmpty
    }

    /// Whether there are no photos at all.
    package func isEmpty() async throws -> Bool {
        try await postgres.read("SELECT FROM photos WHERE state <> 'pending' LIMIT 1").isEmpty
    }

    /// Whether a photo is being stored, or a crash left it pending.
    package func isPending(_ randomID: String) async throws -> Bool {
        // PostgreSQL's text can't hold NUL, so no photo's id has one.
        guard !randomID.utf8.contains(0) else { return false }
        return try await !postgres.read(
            "SELECT FROM photos WHERE random_id = \(randomID) AND state = 'pending'"
        ).isEmpty
    }

    /// The keys that belong to no photo, and whose deletion is not recorded.
    ///
    /// - Parameter keys: Keys of objects, or of their versions.
    /// - Returns: Those of them without a row.
    /// - Throws: `PostgresError`.
    package func withoutRows(_ keys: Set<String>) async throws -> Set<String> {
        // PostgreSQL's text can't hold NUL, so no photo's id has one.
        let (possible, others) = (keys.filter { !$0.utf8.contains(0) }, keys.filter { $0.utf8.contains(0) })
        let rows = try await postgres.read(
            """
            SELECT key FROM unnest(\(Array(possible))) AS key
            WHERE NOT EXISTS (SELECT FROM photos WHERE random_id = key)
                AND NOT EXISTS (SELECT FROM object_deletions WHERE random_id = key)
            """
        )
        return others.union(try rows.map { try $0.decode("key") })
    }

    /// Removes the row of a photo that has no object.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `PostgresError`.
    package func removeLost(_ randomID: String) async throws -> Bool {
        // The library is locked before the photo, as everywhere. Another order could make a deadlock.
        try await postgres.withTransaction { connection in
            try await SchemaLock.share(on: connection)
            return try await connection.execute(
                """
                WITH library AS MATERIALIZED (
                    SELECT user_id FROM photo_libraries
                    WHERE user_id = (SELECT user_id FROM photos WHERE random_id = \(randomID)) FOR NO KEY UPDATE
                )
                DELETE FROM photos USING library
                WHERE random_id = \(randomID) AND photos.user_id = library.user_id AND state <> 'pending'
                """
            ) == 1
        }
    }
}
