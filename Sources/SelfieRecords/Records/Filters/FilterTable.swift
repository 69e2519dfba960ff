import JSON
import OrderedCollections
package import Postgres
import RecordSchema
import SelfiePhotos

/// The table `subscription_filters`: what subscriptions look for.
package enum FilterTable {
    /// How many filters one statement looks at.
    private static let batchSize = 500

    /// The schema has changed since a filter was checked.
    package struct SchemaOutdated: Error {}

    /// Has the schema of a filter stay as it is until the end of a transaction; call it first.
    ///
    /// - Parameters:
    ///   - filter: As it was checked.
    ///   - connection: In the transaction that adds the subscription.
    /// - Throws: ``SchemaOutdated``, `PostgresError`.
    package static func holdSchema(of filter: CheckedFilter, on connection: PostgresConnection) async throws {
        guard let version = filter.schemaVersion else { return }
        try await SchemaLock.share(on: connection)
        let rows = try await connection.query("SELECT \(part: SchemaStore.versionColumn) AS version")
        guard try rows[0].decode("version") == version else { throw SchemaOutdated() }
    }

    /// Adds a filter if it is not there, and keeps it there until the end of the transaction.
    ///
    /// - Parameters:
    ///   - filter: What is looked for.
    ///   - connection: In the transaction that adds the subscription.
    /// - Returns: Its id.
    /// - Throws: `PostgresError`.
    package static func add(_ filter: CheckedFilter, on connection: PostgresConnection) async throws -> Int {
        while true {
            try await connection.execute(
                """
                INSERT INTO subscription_filters (collection_id, digest, condition)
                VALUES (\(filter.collectionID), \(filter.digest), \(filter.condition)::json) ON CONFLICT DO NOTHING
                """
            )
            let rows = try await connection.query(
                """
                SELECT id FROM subscription_filters
                WHERE collection_id = \(filter.collectionID) AND digest = \(filter.digest) FOR KEY SHARE
                """
            )
            // It may have been removed in between.
            if let id: Int = try rows.first?.decode("id") { return id }
        }
    }

    /// Removes filters that no subscription has.
    ///
    /// - Parameter postgres: The database.
    /// - Throws: `PostgresError`.
    package static func removeUnused(_ postgres: PostgresClient) async throws {
        var count = batchSize
        while count == batchSize {
            count = try await postgres.withTransaction { connection in
                let isUnused: PostgresQuery = "NOT EXISTS (SELECT FROM subscriptions WHERE filter_id = filter.id)"
                let ids: [Int] = try await connection.query(
                    """
                    SELECT id FROM subscription_filters AS filter WHERE \(part: isUnused)
                    LIMIT \(batchSize) FOR UPDATE SKIP LOCKED
                    """
                ).map { try $0.decode("id") }
                if ids.isEmpty { return 0 }
                // Only now is it certain that nobody adds a subscription with them.
                try await connection.execute(
                    "DELETE FROM subscription_filters AS filter WHERE id = ANY(\(ids)) AND \(part: isUnused)"
                )
                return ids.count
            }
        }
    }

    /// Removes the subscriptions of a collection that is removed.
    static func removal(ofCollection id: Int) -> PostgresQuery {
        """
        DELETE FROM subscriptions USING subscription_filters AS filter
        WHERE filter.id = filter_id AND filter.collection_id = \(id)
        """
    }

    /// Makes the digests of a collection's filters anew after its rules have changed, and removes subscriptions that look for
    /// fields without an index.
    static func review(_ collection: AppliedCollection, on connection: PostgresConnection) async throws {
        var last = 0
        while true {
            let rows = try await connection.query(
                """
                SELECT id, condition::text AS condition, digest FROM subscription_filters
                WHERE collection_id = \(collection.id) AND id > \(last) ORDER BY id LIMIT \(batchSize)
                """
            )
            if rows.isEmpty { return }
            for row in rows {
                last = try row.decode("id")
                let condition: String = try row.decode("condition")
                guard let filter = try? CheckedFilter(stored: condition, in: collection) else {
                    try await connection.execute("DELETE FROM subscriptions WHERE filter_id = \(last)")
                    continue
                }
                guard try filter.digest != row.decode("digest") else { continue }
                let id = try await add(filter, on: connection)
                try await connection.execute("UPDATE subscriptions SET filter_id = \(id) WHERE filter_id = \(last)")
            }
        }
    }
}

/// A condition that a collection's indexes can look for.
package struct CheckedFilter: Sendable {
    /// 0 for photos.
    package let collectionID: Int
    package let digest: String
    /// The condition as a JSON object.
    package let condition: String
    /// The schema that it was checked by; nil for photos.
    let schemaVersion: Int?

    /// All photos.
    package static let photos = CheckedFilter(
        collectionID: 0,
        digest: RecordFilter([]).digest,
        condition: "{}",
        schemaVersion: nil
    )

    private init(collectionID: Int, digest: String, condition: String, schemaVersion: Int?) {
        (self.collectionID, self.digest, self.condition) = (collectionID, digest, condition)
        self.schemaVersion = schemaVersion
    }

    /// - Throws: `RecordRefusal` for a field without an index, or with a value of another type.
    init(
        _ conditions: [(field: String, value: JSONValue)],
        in collection: AppliedCollection,
        schemaVersion: Int? = nil
    ) throws(RecordRefusal) {
        let values = try collection.indexedFields(conditions)
        let members = conditions.sorted { $0.field < $1.field }.map { ($0.field, $0.value) }
        self.init(
            collectionID: collection.id,
            digest: RecordFilter(values).digest,
            condition: JSONValue.object(.init(uniqueKeysWithValues: members)).text,
            schemaVersion: schemaVersion
        )
    }

    fileprivate init(stored text: String, in collection: AppliedCollection) throws {
        guard case .object(let members) = try JSONValue.parse(stored: text.utf8) else { throw SchemaChanged() }
        try self.init(members.map { ($0.key, $0.value) }, in: collection)
    }
}
