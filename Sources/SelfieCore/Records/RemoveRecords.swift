import Postgres

/// Deletes records that their readers have not asked to delete: they have expired, or their owner leaves.
///
/// What refers to them keeps their ids.
struct RemoveRecords: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache

    /// The most records of a transaction.
    static let batchSize = 100

    /// Deletes records, all of them or none.
    ///
    /// - Parameters:
    ///   - keys: Their keys, at most `batchSize`. Those that are gone are left alone.
    ///   - areExpired: Whether those that have not expired are left alone, too.
    /// - Throws: `PostgresError`.
    func callAsFunction(keys: [Int], areExpired: Bool) async throws {
        try await schemas.withSchema { schema in
            try await postgres.withTransaction { connection in
                let transaction = RecordTransaction(connection: connection, schema: schema)
                let records = try await transaction.lock(keys: keys).filter { $0.isExpired || !areExpired }
                let drafts = try records.map { record in
                    guard let collection = schema.collection(id: record.collectionID) else { throw SchemaChanged() }
                    return RecordPlanner.deletion(of: record, in: collection, at: nil)
                }
                if drafts.isEmpty { return }
                _ = try await transaction.apply(drafts)
            }
        }
    }
}
