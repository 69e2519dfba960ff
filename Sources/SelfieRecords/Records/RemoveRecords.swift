package import Postgres
package import SelfieAccounts

/// Deletes records that have expired, or whose owner's account is deleted.
///
/// Fields that refer to them keep their ids.
package struct RemoveRecords: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    let notifier: ChangeNotifier?

    package init(postgres: PostgresClient, schemas: SchemaCache, notifier: ChangeNotifier?) {
        self.postgres = postgres
        self.schemas = schemas
        self.notifier = notifier
    }

    /// The most records of a transaction.
    static let batchSize = 100
    /// Leaves out records whose owner's row was removed by hand.
    ///
    /// No user sees those, and none of them can be numbered.
    static let ofUsers: PostgresQuery = "JOIN users AS owner ON owner.id = owner_id"

    /// Selects some of the records that a user owns, and of those in the user's inboxes.
    private static func ofUser(_ userID: Int, rowCount: Int) -> PostgresQuery {
        """
        (SELECT key FROM records WHERE owner_id = \(userID) AND deleted_at IS NULL LIMIT \(rowCount))
        UNION (SELECT key FROM records \(part: ofUsers)
            WHERE recipient_id = \(userID) AND recipient_id > 0 AND deleted_at IS NULL LIMIT \(rowCount))
        LIMIT \(rowCount)
        """
    }

    /// The keys of at most `batchSize` of these records.
    package func keys(ofUser userID: Int) async throws -> [Int] {
        try await postgres.read(Self.ofUser(userID, rowCount: Self.batchSize)).map { try $0.decode("key") }
    }

    /// Whether there are any of these records.
    package static func areThere(ofUser userID: Int, on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(ofUser(userID, rowCount: 1)).isEmpty
    }

    /// Deletes records, all of them or none.
    ///
    /// - Parameters:
    ///   - keys: Their keys, at most `batchSize`. Deleted ones are skipped.
    ///   - areExpired: Whether to skip those that have not expired.
    /// - Returns: How many were deleted.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func callAsFunction(keys: [Int], areExpired: Bool) async throws -> Int {
        let (count, notifications) = try await RecordTransaction.run(on: postgres, schemas) { transaction in
            let schema = transaction.schema
            let parents = try await transaction.parents(naming: "key = ANY(\(keys))")
            let locked = try await transaction.lock(parents, keys: keys)
            let deleted = try locked.filter { keys.contains($0.key) && ($0.isExpired || !areExpired) }.map { record in
                guard let collection = schema.collection(id: record.name.collectionID) else { throw SchemaChanged() }
                return RecordDraft(of: record, in: collection, nil)
            }
            let drafts = deleted + RecordPlanner.clearing(deleted, in: locked, schema)
            let writes = try await transaction.write(drafts)
            return (deleted.count, drafts.notifications(of: writes))
        }
        notifier?.notify(notifications)
        return count
    }
}
