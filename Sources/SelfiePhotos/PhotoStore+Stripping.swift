import ImageFiles
import Postgres

/// Photos that were stored with their metadata, and the replacement of their objects.
extension PhotoStore {
    /// How long a new object has until its photo is changed: longer than any put.
    ///
    /// After that it is deleted, since the process has ended.
    static let maxReplacementSeconds = maxPendingInPartsSeconds
    /// How long the old object stays: a redirect's URL works for two hours at most, and clocks may differ.
    ///
    /// `PresignedWindow` has the two hours.
    static let maxRedirectSeconds = 2 * 3600 + 900

    /// A photo whose object may have metadata.
    struct Unstripped: Sendable {
        let objectKey: String
        let contentType: String?
    }

    /// How many photos may have metadata.
    ///
    /// - Returns: Their number.
    /// - Throws: `PostgresError`.
    package func unstrippedCount() async throws -> Int {
        let rows = try await postgres.read(
            "SELECT count(*) AS count FROM photos WHERE state <> 'pending' AND NOT is_stripped"
        )
        return try rows[0].decode("count")
    }

    /// Some of the photos that may have metadata, the oldest first.
    ///
    /// - Parameters:
    ///   - id: The row's id of the last one of the page before; 0 for the first page.
    ///   - count: How many to read at most.
    /// - Returns: The ids of rows, and the photos' `random_id`.
    /// - Throws: `PostgresError`.
    package func unstripped(after id: Int, count: Int) async throws -> [(id: Int, randomID: String)] {
        try await postgres.read(
            """
            SELECT id, random_id FROM photos WHERE state <> 'pending' AND NOT is_stripped AND id > \(id)
            ORDER BY id LIMIT \(count)
            """
        ).map { (try $0.decode("id"), try $0.decode("random_id")) }
    }

    /// A photo that may have metadata.
    ///
    /// - Parameter randomID: The photo's id.
    /// - Returns: nil when it is stripped or deleted.
    /// - Throws: `PostgresError`.
    func unstripped(_ randomID: String) async throws -> Unstripped? {
        let rows = try await postgres.read(
            """
            SELECT coalesce(object_key, random_id)::text AS object_key, content_type FROM photos
            WHERE random_id = \(randomID) AND state <> 'pending' AND NOT is_stripped
            """
        )
        return try rows.first.map { row in
            Unstripped(
                objectKey: try row.decode("object_key"),
                contentType: try row.decodeIfPresent("content_type")
            )
        }
    }

    /// Records the deletion of an object before it is put, so that no crash leaves it behind.
    ///
    /// - Parameter key: The key of the new object.
    /// - Throws: `PostgresError`.
    func announceReplacement(_ key: String) async throws {
        try await postgres.write(
            """
            INSERT INTO object_deletions (random_id, due_at)
            VALUES (\(key), now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.maxReplacementSeconds)))
            """
        )
    }

    /// Has an object deleted that was announced and is not needed.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - versionID: Its version, if it was stored.
    /// - Throws: `PostgresError`.
    func withdrawReplacement(_ key: String, versionID: String?) async throws {
        try await postgres.write(
            """
            INSERT INTO object_deletions (random_id, object_version, due_at)
            VALUES (\(key), \(versionID), now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.settlingSeconds)))
            ON CONFLICT (random_id) DO UPDATE SET due_at = excluded.due_at, attempts = 0,
                object_version = excluded.object_version
            """
        )
    }

    /// Gives a photo its new object.
    ///
    /// The old one is deleted when no redirect leads to it any more.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - oldKey: The object that was read.
    ///   - newKey: The object that was announced and put.
    ///   - versionID: The new object's version.
    ///   - facts: What the new object is.
    /// - Returns: Whether the photo has it now; false when it was deleted or stripped meanwhile, or this took too long.
    /// - Throws: `PostgresError`.
    func replaceObject(
        of randomID: String,
        _ oldKey: String,
        by newKey: String,
        versionID: String?,
        facts: PhotoFacts
    ) async throws -> Bool {
        let replacement: PostgresQuery = """
            WITH replaced AS (
                SELECT photos.id, object_version AS old_version FROM photos WHERE random_id = \(randomID)
                    AND coalesce(object_key, random_id) = \(oldKey) AND state <> 'pending' AND NOT is_stripped
                    AND EXISTS (SELECT FROM object_deletions WHERE random_id = \(newKey) AND attempts = 0
                        AND due_at > now() AT TIME ZONE 'UTC')
            ), forgotten AS (
                DELETE FROM object_deletions WHERE random_id = \(newKey) AND EXISTS (SELECT FROM replaced)
            ), recorded AS (
                INSERT INTO object_deletions (random_id, object_version, due_at)
                SELECT \(oldKey), old_version,
                    now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.maxRedirectSeconds))
                FROM replaced
                ON CONFLICT (random_id) DO NOTHING
            )
            UPDATE photos SET object_key = \(newKey), object_version = \(versionID), is_stripped = true,
                byte_count = \(facts.byteCount), content_type = \(facts.contentType),
                width = \(facts.size?.width), height = \(facts.size?.height)
            FROM replaced WHERE photos.id = replaced.id
            """
        return try await postgres.withTransaction { connection in
            try await Self.lock(randomID, on: connection)
            // The sweeper must not claim the new object meanwhile.
            try await connection.execute("SELECT FROM object_deletions WHERE random_id = \(newKey) FOR UPDATE")
            return try await connection.execute(replacement) == 1
        }
    }

    /// Notes that a photo has no metadata.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - key: The object that was read.
    /// - Throws: `PostgresError`.
    func noteStripped(_ randomID: String, key: String) async throws {
        try await postgres.withTransaction { connection in
            try await Self.lock(randomID, on: connection)
            try await connection.execute(
                """
                UPDATE photos SET is_stripped = true
                WHERE random_id = \(randomID) AND coalesce(object_key, random_id) = \(key) AND NOT is_stripped
                """
            )
        }
    }

    /// The library is locked before the photo, as everywhere.
    ///
    /// Another order could make a deadlock.
    private static func lock(_ randomID: String, on connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            SELECT FROM photo_libraries
            WHERE user_id = (SELECT user_id FROM photos WHERE random_id = \(randomID)) FOR NO KEY UPDATE
            """
        )
        try await connection.execute("SELECT FROM photos WHERE random_id = \(randomID) FOR NO KEY UPDATE")
    }
}
