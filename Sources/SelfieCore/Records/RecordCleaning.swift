import Postgres

/// Removes records that have ended, and what is left of deleted ones.
struct RecordCleaning: Sendable {
    let postgres: PostgresClient
    let notifier: ChangeNotifier?

    /// How long a deleted record is remembered.
    static let forgettingDays = 30

    /// Deletes records that have expired, as their readers may see.
    ///
    /// - Throws: `PostgresError`.
    func removeExpired() async throws {
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

    /// Forgets records that were deleted long ago, once no stream tells of that any more.
    ///
    /// From then on they count for their owners no more.
    ///
    /// - Throws: `PostgresError`.
    func forgetDeleted() async throws {
        while try await forgetSomeDeleted() {}
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM stream_authors WHERE (stream_id, author_id) IN (
                SELECT stream_id, author_id FROM stream_authors WHERE record_count <= 0 LIMIT \(rowCount)
                FOR UPDATE SKIP LOCKED
            ) AND record_count <= 0
            """
        }
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
            try await connection.execute(
                "SELECT FROM streams WHERE user_id = ANY(\(Array(Set(owners)))) ORDER BY id FOR NO KEY UPDATE"
            )
            try await connection.execute(
                """
                WITH forgotten AS (
                    DELETE FROM records WHERE key = ANY(\(try rows.map { try $0.decode("key", as: Int.self) }))
                )
                UPDATE streams SET record_count = greatest(0, record_count - owned.count),
                    byte_count = greatest(0, byte_count - owned.bytes)
                FROM (
                    SELECT user_id, count(*), sum(sent)::bigint AS bytes
                    FROM unnest(\(owners), \(bytes)) AS owner (user_id, sent) GROUP BY user_id
                ) AS owned
                WHERE streams.user_id = owned.user_id
                """
            )
            return true
        }
    }

    /// How many rows one transaction forgets.
    private static let batchSize = 1_000

    /// Forgets what ended long ago, and notes up to which number each stream has forgotten.
    ///
    /// - Throws: `PostgresError`.
    func forgetEnded() async throws {
        while try await forgetSomeEnded() {}
    }

    /// Selects the keys of grants that ended long ago and give nothing, the oldest first.
    ///
    /// The index `grants_forgettable_index` has these alone.
    static let forgettable: PostgresQuery = """
        SELECT collection_id, record_key, stream_id FROM grants
        WHERE rights = 0 AND ended_at < now() AT TIME ZONE 'UTC' - \(forgettingDays) * interval '1 day'
        ORDER BY ended_at LIMIT \(batchSize)
        """

    private func forgetSomeEnded() async throws -> Bool {
        try await postgres.withTransaction { connection in
            // A schema that is applied holds streams in no order. It holds this lock before them.
            try await SchemaLock.share(on: connection)
            let old = Self.forgettable
            let streams: [Int] = try await connection.query(
                "SELECT DISTINCT stream_id FROM (\(part: old)) AS old ORDER BY stream_id"
            ).map { try $0.decode("stream_id") }
            if streams.isEmpty { return false }
            // Whoever gives such a grant again takes a number, and so waits for this lock.
            try await connection.execute(
                "SELECT FROM streams WHERE id = ANY(\(streams)) ORDER BY id FOR NO KEY UPDATE"
            )
            let count = try await connection.execute(
                """
                WITH forgotten AS (
                    DELETE FROM grants WHERE (collection_id, record_key, stream_id) IN (\(part: old))
                        AND stream_id = ANY(\(streams)) RETURNING stream_id, seq
                )
                UPDATE streams SET forgotten_seq = greatest(forgotten_seq, last)
                FROM (SELECT stream_id, max(seq) AS last FROM forgotten GROUP BY stream_id) AS sums
                WHERE streams.id = sums.stream_id
                """
            )
            return count > 0
        }
    }
}
