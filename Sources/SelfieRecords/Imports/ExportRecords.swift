import JSON
package import Postgres
import RecordSchema

/// Reads all records of a collection, as lines that an import takes.
package struct ExportRecords: Sendable {
    let postgres: PostgresClient

    private static let batchSize = 500

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) { self.postgres = postgres }

    /// Reads a collection.
    ///
    /// Members are named by their e-mail addresses. The records are those of one moment.
    ///
    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - body: Gets a JSON object for each record, with a line feed behind it, in batches.
    /// - Returns: The number of records; nil when there is no such collection.
    /// - Throws: `PostgresError`, `InvalidSchema`, what the body throws.
    package func callAsFunction(_ collection: String, _ body: (String) async throws -> Void) async throws -> Int? {
        let schema = try await SchemaStore(postgres: postgres).applied()
        guard let collection = try? schema.collection(collection) else { return nil }
        let isShared = collection.definition.access == .acl
        return try await postgres.withTransaction { connection in
            // One pass, and one moment of the database. A query for each batch would look for its beginning again.
            let selection = Self.selection(of: collection.id)
            try await connection.execute("DECLARE exported NO SCROLL CURSOR FOR \(part: selection)")
            var count = 0
            while true {
                let rows = try await connection.query("FETCH \(part: Self.batch) FROM exported")
                if rows.isEmpty { return count }
                count += rows.count
                try await body(try rows.map { try Self.line($0, of: collection.name, isShared: isShared) }.joined())
            }
        }
    }

    private static let batch = PostgresQuery(stringLiteral: "\(batchSize)")

    private static func selection(of collectionID: Int) -> PostgresQuery {
        """
        SELECT records.id, data::text AS data, coalesce(owner.email, owner.member_id) AS owner,
            coalesce(recipient.email, recipient.member_id) AS recipient,
            \(part: RecordTransaction.timeText("records.created_at")) AS created_at,
            \(part: RecordTransaction.timeText("records.updated_at")) AS updated_at,
            \(part: RecordTransaction.timeText("expires_at")) AS expires_at,
            ARRAY(\(part: members("rights & 2 = 0"))) AS readers, ARRAY(\(part: members("rights & 2 > 0"))) AS writers
        FROM records JOIN users AS owner ON owner.id = owner_id
            LEFT JOIN users AS recipient ON recipient.id = nullif(recipient_id, 0)
        WHERE records.collection_id = \(part: PostgresQuery(stringLiteral: "\(collectionID)")) AND \(part: RecordReader.isThere)
        ORDER BY records.key
        """
    }

    /// Selects the members who read a record by a grant of their own.
    private static func members(_ condition: PostgresQuery) -> PostgresQuery {
        """
        SELECT coalesce(email, member_id)::text AS name FROM grants JOIN streams ON streams.id = stream_id JOIN users ON users.id = user_id
        WHERE grants.collection_id = records.collection_id AND record_key = records.key AND rights % 2 = 1
            AND users.id <> records.owner_id AND users.id <> records.recipient_id AND \(part: condition)
        ORDER BY name
        """
    }

    private static func line(_ row: PostgresRow, of collection: String, isShared: Bool) throws -> String {
        var json = JSONWriter()
        let (readers, writers): ([String], [String]) = (try row.decode("readers"), try row.decode("writers"))
        let (id, data, owner): (String, String, String) = (
            try row.decode("id"), try row.decode("data"), try row.decode("owner")
        )
        let recipient: String? = try row.decodeIfPresent("recipient")
        let (created, updated): (String, String) = (try row.decode("created_at"), try row.decode("updated_at"))
        let expires: String? = try row.decodeIfPresent("expires_at")
        json.object { json in
            json.member("id", id)
            json.member("collection", collection)
            json.member("owner", owner)
            if let recipient { json.member("recipient", recipient) }
            if isShared {
                json.member("readers", texts: readers)
                json.member("writers", texts: writers)
            }
            json.member("data", json: data)
            json.member("created_at", created)
            json.member("updated_at", updated)
            if let expires { json.member("expires_at", expires) }
        }
        return json.string + "\n"
    }
}
