import Postgres
import RecordSchema

/// Shows records to those who may read them.
package struct ReadRecords: Sendable {
    let store: RecordStore
    let schemas: SchemaCache

    /// A record by its id.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - location: Where it is.
    ///   - userID: Who reads.
    /// - Returns: The record.
    /// - Throws: `RecordRefusal`, `PostgresError`.
    package func record(_ id: String, in location: RecordLocation, by userID: Int) async throws -> StoredRecord {
        try await schemas.withSchema { schema in
            let reader = RecordReader(userID: userID, collection: try schema.collection(location.collection))
            let isInbox = reader.collection.definition.access == .inbox
            guard location.inboxOf == nil || isInbox else { throw RecordRefusal(.noCollection) }
            guard try await store.reaches(reader) else { throw RecordRefusal(.noCollection) }
            guard RecordID.isValid(id), location.inboxOf.map(RecordID.isValid) ?? true else {
                throw RecordRefusal(.noRecord)
            }
            if let member = location.inboxOf, try await !store.isMember(userID, member) {
                // The same before and after the recipient has deleted it.
                throw RecordRefusal(try await store.hasSent(id, to: member, by: reader) ? .forbidden : .noRecord)
            }
            guard let (record, rights) = try await store.find(id, for: reader, schema: schema), !rights.isEmpty else {
                throw RecordRefusal(.noRecord)
            }
            guard rights.contains(.read) else { throw RecordRefusal(.forbidden) }
            return record
        }
    }

    /// A page of the records that a user reads.
    ///
    /// - Parameters:
    ///   - query: Which records.
    ///   - location: Where they are.
    ///   - userID: Who reads.
    /// - Returns: The page.
    /// - Throws: `RecordRefusal`, `PostgresError`.
    package func page(_ query: RecordQuery, in location: RecordLocation, by userID: Int) async throws -> RecordPage {
        try await schemas.withSchema { schema in
            let reader = RecordReader(userID: userID, collection: try schema.collection(location.collection))
            try await requireOwnInbox(location, of: reader)
            // Before the rest of the query: its errors would disclose the collection's fields.
            guard try await store.lists(reader) else { throw RecordRefusal(.noCollection) }
            let targets = try Self.targets(of: query.include, in: reader.collection, schema: schema)
            guard let page = try await store.page(query, for: reader, schema: schema) else {
                throw RecordRefusal(.noCollection)
            }
            guard !targets.isEmpty, !page.rows.isEmpty else {
                return RecordPage(records: page.rows.map(\.record), included: [], next: page.next)
            }
            let references = try await store.references(
                of: page.rows.map(\.key),
                in: query.include,
                to: targets,
                userID: userID
            )
            let (count, keys) = Self.fitting(page.rows, references)
            let included = try await store.records(keys, in: targets, userID: userID, schema: schema)
            let records = page.rows.prefix(count).map(\.record)
            let next = count < page.rows.count ? page.rows[count - 1].position : page.next
            return RecordPage(records: records, included: included, next: next)
        }
    }

    /// The bytes of some records that a user reads.
    ///
    /// - Parameters:
    ///   - ids: Their ids. Records that the user may not see count as 0.
    ///   - location: Where they are.
    ///   - userID: Who reads.
    /// - Returns: The bytes of their data together.
    /// - Throws: `RecordRefusal` when there is no such collection, `PostgresError`.
    package func byteCount(of ids: [String], in location: RecordLocation, by userID: Int) async throws -> Int {
        try await schemas.withSchema { schema in
            let reader = RecordReader(userID: userID, collection: try schema.collection(location.collection))
            return try await store.byteCount(of: ids.filter(RecordID.isValid), for: reader)
        }
    }

    /// A user lists only their own inbox.
    private func requireOwnInbox(_ location: RecordLocation, of reader: RecordReader) async throws {
        guard let member = location.inboxOf else { return }
        guard reader.collection.definition.access == .inbox else { throw RecordRefusal(.noCollection) }
        guard RecordID.isValid(member), try await store.isMember(reader.userID, member) else {
            throw RecordRefusal(.noMember)
        }
    }

    private static func targets(
        of fields: [String],
        in collection: AppliedCollection,
        schema: AppliedSchema
    ) throws(RecordRefusal) -> [AppliedCollection] {
        var targets: [AppliedCollection] = []
        for field in fields {
            guard case .reference(let name)? = collection.definition.field(field)?.type else {
                throw RecordRefusal(.noReference(field: field))
            }
            targets.append(try schema.collection(name))
        }
        return targets
    }

    /// How many records fit into a page with their targets, and the keys of these targets.
    ///
    /// The first record always does.
    static func fitting(
        _ rows: [RecordRow],
        _ references: [Int: [(key: Int, byteCount: Int)]]
    ) -> (count: Int, included: [Int]) {
        var (bytes, included) = (0, Set<Int>())
        for (position, row) in rows.enumerated() {
            let new = (references[row.key] ?? []).filter { !included.contains($0.key) }
            bytes += row.record.data.utf8.count + new.reduce(0) { $0 + $1.byteCount }
            if bytes > RecordQuery.maxPageBytes, position > 0 { return (position, included.sorted()) }
            included.formUnion(new.map(\.key))
        }
        return (rows.count, included.sorted())
    }
}
