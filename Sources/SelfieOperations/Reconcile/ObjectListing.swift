import FoundationEssentials
import ObjectStore
import Postgres

/// A store's objects beside the photos, in a table of the database that goes away with its connection.
///
/// Stores list in orders of their own, and a list may be longer than memory; the database compares either way.
struct ObjectListing {
    private let connection: PostgresConnection

    /// How many rows are looked at together.
    private static let pageCount = 1_000

    /// Makes the table.
    ///
    /// - Parameter connection: Kept until the comparison is over.
    /// - Throws: `PostgresError`.
    init(on connection: PostgresConnection) async throws {
        self.connection = connection
        try await connection.execute(
            """
            CREATE TEMPORARY TABLE listed_objects (
                key text PRIMARY KEY, length bigint NOT NULL, modified_ms bigint NOT NULL
            )
            """
        )
    }

    /// Adds a page; an object that was listed before, as one that changes while a list goes on may be, is as it is now.
    func add(_ entries: [ObjectEntry]) async throws {
        // PostgreSQL's text holds no NUL, and the id of no photo does.
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

    /// Tells the database how much there is to compare.
    func finish() async throws {
        try await connection.execute("ANALYZE listed_objects")
    }

    func photoCount() async throws -> Int {
        try await count("SELECT count(*) AS count FROM photos WHERE state = 'ready'")
    }

    /// How many objects were put before a date and belong to no photo.
    ///
    /// One whose deletion is written down already is none of them, nor is one that is being stored: its row is there
    /// before it is.
    func orphanCount(before date: Date) async throws -> Int {
        try await count(
            """
            SELECT count(*) AS count FROM listed_objects
            WHERE modified_ms <= \(date.milliseconds)
                AND NOT EXISTS (SELECT FROM photos WHERE random_id = key)
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
                AND NOT EXISTS (SELECT FROM photos WHERE random_id = key)
                AND NOT EXISTS (SELECT FROM object_deletions WHERE random_id = key)
            ORDER BY key LIMIT \(Self.pageCount)
            """
        ).map { try $0.decode("key") }
    }

    /// How many photos that were stored so many seconds ago have no object.
    func missingCount(minSeconds: Int) async throws -> Int {
        try await count(
            """
            SELECT count(*) AS count FROM photos
            WHERE state = 'ready' AND created_at <= now() AT TIME ZONE 'UTC' - make_interval(secs => \(minSeconds))
                AND NOT EXISTS (SELECT FROM listed_objects WHERE key = random_id)
            """
        )
    }

    /// A page of photos without an object, and of those whose object has another length, by their ids.
    func mismatches(minSeconds: Int, after id: Int) async throws -> [Mismatch] {
        try await connection.query(
            """
            SELECT id, random_id, byte_count FROM photos LEFT JOIN listed_objects ON key = random_id
            WHERE id > \(id) AND state = 'ready'
                AND created_at <= now() AT TIME ZONE 'UTC' - make_interval(secs => \(minSeconds))
                AND (key IS NULL OR length <> byte_count)
            ORDER BY id LIMIT \(Self.pageCount)
            """
        ).map { row in
            Mismatch(
                id: try row.decode("id"),
                randomID: try row.decode("random_id"),
                byteCount: try row.decodeIfPresent("byte_count")
            )
        }
    }

    private func count(_ query: PostgresQuery) async throws -> Int {
        try await connection.query(query).first?.decode("count") ?? 0
    }
}

/// A photo whose object is not as its row says.
struct Mismatch: Sendable {
    let id: Int
    let randomID: String
    let byteCount: Int?
}

extension Date {
    fileprivate var milliseconds: Int { Int((timeIntervalSince1970 * 1_000).rounded()) }
}
