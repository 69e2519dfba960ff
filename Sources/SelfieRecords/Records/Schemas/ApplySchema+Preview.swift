import Postgres
package import RecordSchema

extension ApplySchema {
    /// What applying a schema would do, with the numbers of records and of people.
    ///
    /// It reads all records that would be reviewed, and does not block writers.
    ///
    /// - Parameter schema: The schema.
    /// - Returns: The preview.
    /// - Throws: `PostgresError`, `InvalidSchema` if a newer service has applied the present schema.
    package func preview(_ schema: Schema) async throws -> SchemaPreview {
        let old = try await SchemaStore(postgres: postgres).applied()
        let plan = SchemaPlan(from: old.schema, to: schema)
        var effects: [SchemaPreview.Effect] = []
        for change in plan.changes {
            var effect = SchemaPreview.Effect()
            if let name = change.removed { effect.removedCount = try await recordCount(of: name) }
            if let widening = change.widening {
                effect.shown = (
                    try await recordCount(of: widening.collection), try await memberCount(of: widening)
                )
            }
            effects.append(effect)
        }
        var misfits: [(collection: String, count: Int)] = []
        for name in plan.reviewedCollections {
            guard let id = try? old.collection(name).id, let definition = schema.collection(name) else { continue }
            let count = try await misfitCount(of: id, definition)
            if count > 0 { misfits.append((name, count)) }
        }
        return SchemaPreview(plan: plan, effects: effects, misfits: misfits)
    }

    /// Whether a plan shows records that are there to more people.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - connection: In the transaction that keeps others from writing.
    /// - Returns: Whether it does.
    /// - Throws: `PostgresError`.
    static func showsMore(_ plan: SchemaPlan, on connection: PostgresConnection) async throws -> Bool {
        let names = plan.changes.compactMap(\.widening?.collection)
        if names.isEmpty { return false }
        return try await !connection.query(
            """
            SELECT FROM records JOIN collections ON collections.id = collection_id
            WHERE name = ANY(\(names)) AND deleted_at IS NULL LIMIT 1
            """
        ).isEmpty
    }

    private func recordCount(of collection: String) async throws -> Int {
        try await postgres.read(
            """
            SELECT count(*) AS count FROM records JOIN collections ON collections.id = collection_id
            WHERE name = \(collection) AND deleted_at IS NULL
            """
        )[0].decode("count")
    }

    /// How many people see more; nil where that depends on the record.
    private func memberCount(of widening: Widening) async throws -> Int? {
        let (isEverybody, roles): (Bool, [String])
        switch widening.readers {
        case .everybody: (isEverybody, roles) = (true, [])
        case .roles(let names): (isEverybody, roles) = (false, names)
        case .newUsers, .ofEachRecord: return nil
        }
        let having: PostgresQuery = "SELECT FROM role_members JOIN roles ON roles.id = role_id WHERE user_id = users.id"
        return try await postgres.read(
            """
            SELECT count(*) AS count FROM users WHERE disabled_at IS NULL
                AND (\(isEverybody) OR EXISTS (\(part: having) AND name = ANY(\(roles))))
                AND NOT EXISTS (\(part: having) AND name = ANY(\(widening.formerRoles)) AND roles.disabled_at IS NULL)
            """
        )[0].decode("count")
    }

    private func misfitCount(of collectionID: Int, _ definition: RecordCollection) async throws -> Int {
        var (last, count) = (0, 0)
        while true {
            let rows = try await postgres.read(
                """
                SELECT key, data::text AS data FROM records
                WHERE collection_id = \(collectionID) AND key > \(last) AND deleted_at IS NULL
                ORDER BY key LIMIT \(Self.batchSize)
                """
            )
            if rows.isEmpty { return count }
            for row in rows {
                last = try row.decode("key")
                let value = RecordData.value(stored: try row.decode("data"))
                if (try? RecordData(value, in: definition)) == nil { count += 1 }
            }
        }
    }
}
