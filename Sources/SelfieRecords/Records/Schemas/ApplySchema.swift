import Encodings
import JSON
package import Postgres
package import RecordSchema
import SelfiePhotos

/// Replaces the schema of a database: all of it, or nothing.
package struct ApplySchema: Sendable {
    let postgres: PostgresClient
    let lockTimeout: Duration

    /// - Parameters:
    ///   - postgres: The database. Its statements may take as long as the review of some hundred records.
    ///   - lockTimeout: How long to wait for writers of records.
    package init(postgres: PostgresClient, lockTimeout: Duration = .seconds(10)) {
        self.postgres = postgres
        self.lockTimeout = lockTimeout
    }

    /// The result of applying a schema.
    package struct Report: Sendable {
        package let plan: SchemaPlan
        /// How many records of each collection break its new rules.
        ///
        /// They stay as they are until a user changes them.
        package let misfits: [(collection: String, count: Int)]
    }

    /// The most records that are reviewed at a time.
    static let batchSize = 200

    /// Applies a schema.
    ///
    /// Calls that write records wait meanwhile.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - plan: What its operator has agreed to.
    ///   - mayShowMore: Whether records that are there may be shown to more people.
    /// - Returns: What was done; nil when the present schema is not the plan's any more, or when it would show new
    ///   records to more people.
    /// - Throws: `SchemaPlanRefused`, `RecordsBusy` when others write records all the time, `PostgresError`.
    package func callAsFunction(
        _ schema: Schema,
        as plan: SchemaPlan,
        mayShowMore: Bool
    ) async throws -> Report? {
        guard plan.refusals.isEmpty else { throw SchemaPlanRefused() }
        return try await Self.givingUp { try await apply(schema, as: plan, mayShowMore: mayShowMore) }
    }

    /// Says in its own words that others write all the time.
    private static func givingUp<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
            throw RecordsBusy()
        }
    }

    private func apply(_ schema: Schema, as plan: SchemaPlan, mayShowMore: Bool) async throws -> Report? {
        try await postgres.withTransaction { connection in
            try await connection.execute(
                PostgresQuery(stringLiteral: "SET LOCAL lock_timeout = \(Int(lockTimeout / .milliseconds(1)))")
            )
            try await SchemaLock.takeAlone(on: connection)
            let old = try AppliedSchema(try await connection.query(SchemaStore.selection)[0])
            guard SchemaPlan(from: old.schema, to: schema) == plan else { return nil }
            if !mayShowMore, try await Self.showsMore(plan, on: connection) { return nil }
            if plan.changes.isEmpty { return Report(plan: plan, misfits: []) }
            try await removeParts(from: old, to: schema, on: connection)
            try await addParts(of: schema, on: connection)
            let removesRecords = old.schema.collections.contains { schema.collection($0.name) == nil }
            try await connection.execute(
                """
                INSERT INTO schema_definitions (version, definition, removes_records)
                VALUES (\(old.version + 1), \(schema.json.text)::json, \(removesRecords))
                """
            )
            let new = try AppliedSchema(try await connection.query(SchemaStore.selection)[0])
            var misfits: [(collection: String, count: Int)] = []
            for name in plan.reviewedCollections {
                guard let collection = try? new.collection(name), let before = old.schema.collection(name) else {
                    continue
                }
                try await FilterTable.review(collection, on: connection)
                let count = try await review(
                    collection,
                    isShared: SchemaPlan.isSharedAlike(before, collection.definition, old.schema, schema),
                    in: new,
                    on: connection
                )
                if count > 0 { misfits.append((name, count)) }
            }
            return Report(plan: plan, misfits: misfits)
        }
    }

    private func addParts(of schema: Schema, on connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            WITH added AS (
                INSERT INTO roles (name) SELECT * FROM unnest(\(schema.roles.map(\.name))) ON CONFLICT DO NOTHING RETURNING id
            )
            \(part: StreamTable.adding("role_id", "SELECT id FROM added"))
            """
        )
        let defaults = schema.roles.filter(\.isDefault).map(\.name)
        try await connection.execute(
            "UPDATE roles SET is_default = NOT is_default WHERE is_default <> (name = ANY(\(defaults)))"
        )
        try await connection.execute(
            """
            WITH added AS (
                INSERT INTO collections (name) SELECT * FROM unnest(\(schema.collections.map(\.name)))
                ON CONFLICT DO NOTHING RETURNING id
            )
            \(part: StreamTable.adding("collection_id", "SELECT id FROM added"))
            """
        )
    }

    /// Removes roles, and collections with their records.
    private func removeParts(
        from old: AppliedSchema,
        to schema: Schema,
        on connection: PostgresConnection
    ) async throws {
        for collection in old.schema.collections where schema.collection(collection.name) == nil {
            guard let id = try? old.collection(collection.name).id else { continue }
            try await removeRecords(of: id, on: connection)
            try await connection.execute(FilterTable.removal(ofCollection: id))
            try await connection.execute("DELETE FROM collections WHERE id = \(id)")
        }
        for role in old.schema.roles where !schema.roles.contains(where: { $0.name == role.name }) {
            let stream: PostgresQuery = """
                SELECT streams.id FROM streams JOIN roles ON roles.id = role_id WHERE name = \(role.name)
                """
            try await connection.executeInBatches { GrantTable.removal(ofStream: stream, rowCount: $0) }
            try await connection.execute("DELETE FROM roles WHERE name = \(role.name)")
        }
    }

    /// Removes the records of a collection, and nothing that others refer to.
    private func removeRecords(of collectionID: Int, on connection: PostgresConnection) async throws {
        var last = 0
        // Each batch begins after the last key of the previous one, past its dead rows.
        while case let keys = try await keys(after: last, of: collectionID, on: connection), let end = keys.last {
            last = end
            try await remove(keys, of: collectionID, on: connection)
        }
    }

    /// The next records of a collection, deleted ones too.
    private func keys(after last: Int, of collectionID: Int, on connection: PostgresConnection) async throws -> [Int] {
        try await connection.query(
            """
            SELECT key FROM records WHERE collection_id = \(collectionID) AND key > \(last)
            ORDER BY key LIMIT \(Self.batchSize)
            """
        ).map { try $0.decode("key", as: Int.self) }
    }

    private func remove(_ keys: [Int], of collectionID: Int, on connection: PostgresConnection) async throws {
        let listed: PostgresQuery = "SELECT key FROM listed"
        let sums: PostgresQuery = """
            SELECT user_id, sum(owned) AS owned, sum(waiting) AS waiting, sum(bytes) AS bytes FROM (
                SELECT owner_id AS user_id, 1 AS owned, 0 AS waiting, sent_byte_count AS bytes FROM listed
                UNION ALL SELECT recipient_id, 0, 1, byte_count - sent_byte_count
                FROM listed WHERE is_there AND recipient_id IS NOT NULL
            ) AS each GROUP BY user_id
            """
        let authors: PostgresQuery = """
            SELECT stream_id, owner_id AS author_id, count(*), count(*) FILTER (WHERE recipient_id IS NOT NULL) AS waiting
            FROM ungranted JOIN listed ON key = record_key WHERE rights % 2 = 1 GROUP BY stream_id, owner_id
            """
        let removals = RecordTable.removal(of: listed).reduce("") { "\(part: $0), \(part: $1)" } as PostgresQuery
        try await connection.execute(
            """
            WITH listed AS MATERIALIZED (\(part: RecordTable.counted(keys))),
            ungranted AS (\(part: GrantTable.removal(ofRecords: listed, in: collectionID))),
            counted AS (\(part: StreamTable.subtracting(sums))) \(part: removals)
            \(part: StreamTable.subtractingAuthors(authors))
            """
        )
    }

    /// Writes grants, index and references of all records of a collection anew, and counts those that break its rules.
    private func review(
        _ collection: AppliedCollection,
        isShared: Bool,
        in schema: AppliedSchema,
        on connection: PostgresConnection
    ) async throws -> Int {
        let transaction = RecordTransaction(connection: connection, schema: schema)
        var (last, misfits) = (0, 0)
        while true {
            let keys = try await keys(after: last, of: collection.id, on: connection)
            guard let end = keys.last else { return misfits }
            let records = try await transaction.lock(keys: keys)
            var drafts: [RecordDraft] = []
            for record in records {
                let value = RecordData.value(stored: record.data)
                if (try? RecordData(value, in: collection.definition)) == nil { misfits += 1 }
                let data = RecordData(stored: record.data, value, in: collection.definition)
                drafts.append(
                    RecordDraft(
                        of: record,
                        in: collection,
                        RecordDraft.Content(data: data, expiresAt: record.expiresAt, newLinks: data.links),
                        sharing: isShared ? nil : collection.sharing(owner: record.owner.streamID),
                        isReview: true
                    )
                )
            }
            guard let targets = try await transaction.targets(of: drafts, by: nil) else { throw RecordsBusy() }
            try await transaction.write(drafts, to: targets)
            last = end
        }
    }
}

/// The plan has changes that can't be made.
package struct SchemaPlanRefused: Error {}
