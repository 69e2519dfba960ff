import Postgres

/// Deletes records that their readers have not asked to delete: they have expired, or their owner leaves.
///
/// What refers to them keeps their ids.
struct RemoveRecords: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    let notifier: ChangeNotifier?

    /// The most records of a transaction.
    static let batchSize = 100
    /// Leaves out records whose owner's row was removed by hand.
    ///
    /// Nobody sees those, and none of them can be numbered.
    static let ofUsers: PostgresQuery = "JOIN users AS owner ON owner.id = owner_id"

    /// Deletes records, all of them or none.
    ///
    /// - Parameters:
    ///   - keys: Their keys, at most `batchSize`. Those that are gone are left alone.
    ///   - areExpired: Whether those that have not expired are left alone, too.
    /// - Returns: How many were deleted.
    /// - Throws: `PostgresError`.
    @discardableResult
    func callAsFunction(keys: [Int], areExpired: Bool) async throws -> Int {
        let (count, streams) = try await schemas.withSchema { schema in
            try await postgres.withTransaction { connection in
                try await SchemaLock.share(on: connection)
                let version = try await connection.query("SELECT \(part: SchemaStore.versionColumn) AS version")
                guard try version[0].decode("version") == schema.version else { throw SchemaChanged() }
                let transaction = RecordTransaction(connection: connection, schema: schema)
                let parentNames = try await transaction.parents(naming: "key = ANY(\(keys))")
                let locked = try await transaction.lock(keys: keys, and: parentNames)
                let records = locked.filter { keys.contains($0.key) && ($0.isExpired || !areExpired) }
                var drafts = try records.map { record in
                    guard let collection = schema.collection(id: record.collectionID) else { throw SchemaChanged() }
                    return RecordPlanner.deletion(of: record, in: collection, at: nil)
                }
                let count = drafts.count
                drafts += ParentDrafts.clearing(
                    drafts,
                    in: locked.filter { parentNames.contains($0.name) },
                    schema: schema
                )
                if !drafts.isEmpty { _ = try await transaction.apply(drafts) }
                return (count, drafts.reduce(into: Set<Int>()) { $0.formUnion($1.numberedStreams) })
            }
        }
        notifier?.notify(streams.map { .stream($0) })
        return count
    }
}
