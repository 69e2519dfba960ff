package import Postgres
package import SelfieAccounts
import SelfiePhotos

/// Deletes expired records, and removes old tombstones.
package struct RecordCleaning: Sendable {
    let postgres: PostgresClient
    let notifier: ChangeNotifier?

    package init(postgres: PostgresClient, notifier: ChangeNotifier?) {
        self.postgres = postgres
        self.notifier = notifier
    }

    /// How long a tombstone stays.
    static let forgettingDays = 30

    /// Deletes expired records; their readers receive changes.
    ///
    /// - Throws: `PostgresError`.
    package func removeExpired() async throws {
        let removal = RemoveRecords(
            postgres: postgres,
            schemas: SchemaCache(store: SchemaStore(postgres: postgres)),
            notifier: notifier
        )
        var removedCount = 0
        repeat {
            let keys: [Int] = try await postgres.read(
                """
                SELECT key FROM records \(part: RemoveRecords.ofUsers)
                WHERE deleted_at IS NULL AND expires_at <= now() AT TIME ZONE 'UTC'
                ORDER BY expires_at LIMIT \(RemoveRecords.batchSize)
                """
            ).map { try $0.decode("key") }
            removedCount = try await removal(keys: keys, areExpired: true)
        } while removedCount > 0
    }

    /// Removes old tombstones, once no stream shows their deletion any more.
    ///
    /// From then on they no longer count for their owners.
    ///
    /// - Throws: `PostgresError`.
    package func forgetDeleted() async throws {
        while try await forgetSomeDeleted() {}
        try await postgres.writeInBatches { StreamTable.removalOfUnusedAuthors(rowCount: $0) }
    }

    private func forgetSomeDeleted() async throws -> Bool {
        try await postgres.withTransaction { connection in
            try await SchemaLock.share(on: connection)
            let rows = try await connection.query(
                """
                SELECT key, owner_id::bigint AS owner_id, coalesce(sent_byte_count, 0)::bigint AS sent_byte_count FROM records
                WHERE deleted_at < now() AT TIME ZONE 'UTC' - \(Self.forgettingDays) * interval '1 day'
                    AND NOT EXISTS (
                        SELECT FROM grants WHERE grants.collection_id = records.collection_id AND record_key = key
                    )
                LIMIT \(Self.batchSize) FOR UPDATE SKIP LOCKED
                """
            )
            if rows.isEmpty { return false }
            let owners = try rows.map { try $0.decode("owner_id", as: Int.self) }
            let bytes = try rows.map { try $0.decode("sent_byte_count", as: Int.self) }
            try await connection.execute(StreamTable.locking(.users(Array(Set(owners)))))
            let tombstones = RecordTable.removal(ofTombstones: try rows.map { try $0.decode("key") })
            let sums: PostgresQuery = """
                SELECT user_id, count(*) AS owned, 0 AS waiting, sum(sent)::bigint AS bytes
                FROM unnest(\(owners), \(bytes)) AS owner (user_id, sent) GROUP BY user_id
                """
            try await connection.execute(
                "WITH forgotten AS (\(part: tombstones)) \(part: StreamTable.subtracting(sums))"
            )
            return true
        }
    }

    /// How many rows one transaction removes.
    private static let batchSize = 1_000

    /// Removes grants that ended long ago, and notes up to which number each stream has lost changes.
    ///
    /// - Throws: `PostgresError`.
    package func forgetEnded() async throws {
        while try await forgetSomeEnded() {}
    }

    /// Selects the grants that are removed next.
    static let forgettable = GrantTable.ended(days: forgettingDays, rowCount: batchSize)

    private func forgetSomeEnded() async throws -> Bool {
        try await postgres.withTransaction { connection in
            // Applying a schema locks streams in any order. It takes this lock before them.
            try await SchemaLock.share(on: connection)
            let streams: [Int] = try await connection.query(
                "SELECT DISTINCT stream_id FROM (\(part: Self.forgettable)) AS old ORDER BY stream_id"
            ).map { try $0.decode("stream_id") }
            if streams.isEmpty { return false }
            // A transaction that writes such a grant again takes a number, and so waits for this lock.
            try await connection.execute(StreamTable.locking(.ids(streams)))
            let removal = GrantTable.removal(of: Self.forgettable, ofStreams: streams)
            let count = try await connection.execute(
                "WITH forgotten AS (\(part: removal)) \(part: StreamTable.forgetting("forgotten"))"
            )
            return count > 0
        }
    }
}
