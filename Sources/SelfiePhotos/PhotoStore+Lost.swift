import Postgres

/// Photos whose objects are missing.
extension PhotoStore {
    /// Whether an object with this key belongs to a photo that is ready.
    package func isReady(key: String) async throws -> Bool {
        try await !postgres.read("SELECT FROM photo_objects WHERE key = \(key) AND NOT is_pending").isEmpty
    }

    /// Whether there are no photos at all.
    package func isEmpty() async throws -> Bool {
        try await postgres.read("SELECT FROM photos WHERE state <> 'pending' LIMIT 1").isEmpty
    }

    /// Whether the object with this key is being stored, or a crash left its photo pending.
    package func isPending(key: String) async throws -> Bool {
        // PostgreSQL's text can't hold NUL, so no key has one.
        guard !key.utf8.contains(0) else { return false }
        return try await !postgres.read("SELECT FROM photo_objects WHERE key = \(key) AND is_pending").isEmpty
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
            SELECT key FROM unnest(\(Array(possible))) AS asked (key)
            WHERE NOT EXISTS (SELECT FROM photo_objects WHERE photo_objects.key = asked.key)
                AND NOT EXISTS (SELECT FROM object_deletions WHERE random_id = key)
            """
        )
        return others.union(try rows.map { try $0.decode("key") })
    }

    /// Removes the row of a photo that has no object.
    ///
    /// - Parameter key: The key of the missing object. The photo may have another one meanwhile.
    /// - Returns: Whether there was one.
    /// - Throws: `PostgresError`.
    package func removeLost(key: String) async throws -> Bool {
        // The library is locked before the photo, as everywhere. Another order could make a deadlock.
        try await postgres.withTransaction { connection in
            try await SchemaLock.share(on: connection)
            return try await connection.execute(
                """
                WITH library AS MATERIALIZED (
                    SELECT user_id FROM photo_libraries
                    WHERE user_id = (
                        SELECT user_id FROM photos JOIN photo_objects ON photo_id = photos.id WHERE key = \(key)
                    ) FOR NO KEY UPDATE
                )
                DELETE FROM photos USING library
                WHERE id = (SELECT photo_id FROM photo_objects WHERE key = \(key))
                    AND photos.user_id = library.user_id AND state <> 'pending'
                    AND coalesce(object_key, random_id) = \(key)
                """
            ) == 1
        }
    }
}
