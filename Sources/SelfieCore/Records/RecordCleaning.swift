import Postgres

/// Removes records that have ended, and what is left of deleted ones.
struct RecordCleaning: Sendable {
    let postgres: PostgresClient

    /// How long a deleted record is remembered.
    static let forgettingDays = 30

    /// Deletes records that have expired, as their readers may see.
    ///
    /// - Throws: `PostgresError`.
    func removeExpired() async throws {
        let removal = RemoveRecords(
            postgres: postgres,
            schemas: SchemaCache(store: SchemaStore(postgres: postgres))
        )
        while true {
            let keys: [Int] = try await postgres.read(
                """
                SELECT key FROM records WHERE deleted_at IS NULL AND expires_at <= now() AT TIME ZONE 'UTC'
                ORDER BY expires_at LIMIT \(RemoveRecords.batchSize)
                """
            ).map { try $0.decode("key") }
            if keys.isEmpty { return }
            try await removal(keys: keys, areExpired: true)
        }
    }

    /// Forgets records that were deleted long ago.
    ///
    /// - Throws: `PostgresError`.
    func forgetDeleted() async throws {
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM records WHERE key IN (
                SELECT key FROM records
                WHERE deleted_at < now() AT TIME ZONE 'UTC' - \(Self.forgettingDays) * interval '1 day'
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }
}
