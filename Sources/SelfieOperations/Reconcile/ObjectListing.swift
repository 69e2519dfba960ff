import FoundationEssentials
import ObjectStore
import Postgres
import S3

/// A list of a store's objects in a temporary table of the database, to compare with the photos.
///
/// A store's list has any order and may be longer than memory, so the database compares.
struct ObjectListing {
    private let connection: PostgresConnection

    /// How many rows a page has.
    private static let pageCount = 1_000

    /// Makes the table.
    ///
    /// - Parameter connection: The connection of the temporary table, leased until the comparison ends.
    /// - Throws: `InstallationError.pooler`, `PostgresError`.
    init(on connection: PostgresConnection) async throws {
        try await InstallationError.refusePooler(of: connection)
        self.connection = connection
        try await connection.execute(
            """
            CREATE TEMPORARY TABLE listed_objects (
                key text PRIMARY KEY, length bigint NOT NULL, modified_ms bigint NOT NULL
            )
            """
        )
    }

    /// Adds a page.
    ///
    /// An object may be listed twice if it changes meanwhile; the later entry counts.
    func add(_ entries: [ObjectEntry]) async throws {
        // PostgreSQL's text can't hold NUL, so no photo's id has one.
        let entries = entries.filter { !$0.key.utf8.contains(0) }
        try await connection.execute(
            """
            INSERT INTO listed_objects (key, length, modified_ms)
            SELECT DISTINCT ON (key) key, length, modified_ms
            FROM unnest(\(entries.map(\.key)), \(entries.map(\.length)), \(entries.map(\.modified.milliseconds)))
                AS entry (key, length, modified_ms)
            ON CONFLICT (key) DO UPDATE SET length = excluded.length, modified_ms = excluded.modified_ms
            """
        )
    }

    /// Makes the database count the rows, so that it plans well.
    func finish() async throws {
        try await connection.execute("ANALYZE listed_objects")
    }

    func photoCount() async throws -> Int {
        try await count("SELECT count(*) AS count FROM photos WHERE state <> 'pending'")
    }

    /// How many objects are older than a date and belong to no photo.
    ///
    /// Objects with a recorded deletion do not count, and neither do those being stored: their rows come first.
    func orphanCount(before date: Date) async throws -> Int {
        try await count(
            """
            SELECT count(*) AS count FROM listed_objects
            WHERE modified_ms <= \(date.milliseconds)
                AND NOT EXISTS (SELECT FROM photo_objects WHERE photo_objects.key = listed_objects.key)
                AND NOT EXISTS (SELECT FROM object_deletions WHERE random_id = key)
            """
        )
    }

    /// A page of those objects' keys, in order.
    func orphans(before date: Date, after key: String) async throws -> [String] {
        try await connection.query(
            """
            SELECT key FROM listed_objects
            WHERE key > \(key) AND modified_ms <= \(date.milliseconds)
                AND NOT EXISTS (SELECT FROM photo_objects WHERE photo_objects.key = listed_objects.key)
                AND NOT EXISTS (SELECT FROM object_deletions WHERE random_id = key)
            ORDER BY key LIMIT \(Self.pageCount)
            """
        ).map { try $0.decode("key") }
    }

    /// How many photos have no object, though they were stored this many seconds ago.
    func missingCount(minSeconds: Int) async throws -> Int {
        try await count(
            """
            SELECT count(*) AS count FROM photo_objects
            WHERE size IS NULL AND NOT is_pending AND created_at <= now() AT TIME ZONE 'UTC' - make_interval(secs => \(minSeconds))
                AND NOT EXISTS (SELECT FROM listed_objects WHERE listed_objects.key = photo_objects.key)
            """
        )
    }

    /// A page of rows without an object or with one of another length, in order of their keys.
    func mismatches(minSeconds: Int, after key: String) async throws -> [Mismatch] {
        try await connection.query(
            """
            SELECT random_id, photo_objects.key, byte_count, size IS NOT NULL AS is_small
            FROM photo_objects LEFT JOIN listed_objects USING (key)
            WHERE photo_objects.key > \(key) AND NOT is_pending
                AND created_at <= now() AT TIME ZONE 'UTC' - make_interval(secs => \(minSeconds))
                AND (length IS NULL OR length <> byte_count)
            ORDER BY photo_objects.key LIMIT \(Self.pageCount)
            """
        ).map { row in
            Mismatch(
                key: try row.decode("key"),
                randomID: try row.decode("random_id"),
                byteCount: try row.decodeIfPresent("byte_count"),
                isSmall: try row.decode("is_small")
            )
        }
    }

    private func count(_ query: PostgresQuery) async throws -> Int {
        try await connection.query(query).first?.decode("count") ?? 0
    }
}

/// A photo or small picture whose object does not match its row.
struct Mismatch: Sendable {
    let key: String
    let randomID: String
    let byteCount: Int?
    /// Whether it is a small picture of a photo.
    let isSmall: Bool
}

extension Date {
    fileprivate var milliseconds: Int { Int((timeIntervalSince1970 * 1_000).rounded()) }
}
