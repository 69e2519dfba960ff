import Postgres
package import RecordSchema

/// Shows records to those who may read them.
package struct ReadRecords: Sendable {
    let store: RecordStore
    let schemas: SchemaCache

    /// A record by its id.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - location: Where it is.
    ///   - include: The reference fields whose targets are wanted, too.
    ///   - userID: Who reads.
    /// - Returns: The record, and the records that it refers to, as far as the user may see them.
    /// - Throws: `RecordRefusal`, `PostgresError`.
    package func record(
        _ id: String,
        in location: RecordLocation,
        including include: [String],
        by userID: Int
    ) async throws -> (record: StoredRecord, included: [StoredRecord]) {
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
            let targets = try Self.targets(of: include, in: reader.collection, schema: schema)
            guard let (row, rights) = try await store.find(id, for: reader, schema: schema), !rights.isEmpty else {
                throw RecordRefusal(.noRecord)
            }
            guard rights.contains(.read) else { throw RecordRefusal(.forbidden) }
            if targets.isEmpty { return (row.record, []) }
            let references = try await store.references(of: [row.key], in: include, to: targets, userID: userID)
            let keys = Self.fitting([row], references).included
            return (row.record, try await store.records(keys, in: targets, userID: userID, schema: schema))
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
            let walk = try await store.walk(query, for: reader)
            guard let page = try await store.page(walk, schema: schema) else { throw RecordRefusal(.noCollection) }
            let total = query.counts ? try await store.count(walk) : nil
            guard !targets.isEmpty, !page.rows.isEmpty else {
                return RecordPage(
                    records: page.rows.map(\.record),
                    included: [],
                    next: page.next,
                    isLimited: page.isLimited,
                    count: total
                )
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
            let isCut = count < page.rows.count
            return RecordPage(
                records: records,
                included: included,
                next: isCut ? page.rows[count - 1].position : page.next,
                isLimited: page.isLimited && !isCut,
                count: total
            )
        }
    }

    /// Whether a user may list the records of a collection.
    ///
    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - userID: The user.
    /// - Returns: Whether there is such a collection for the user.
    /// - Throws: `PostgresError`.
    package func lists(_ collection: String, by userID: Int) async throws -> Bool {
        let schema = try await schemas.newest()
        guard let collection = try? schema.collection(collection) else { return false }
        return try await store.lists(RecordReader(userID: userID, collection: collection))
    }

    /// The schema, for a user who may do something in a collection.
    ///
    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - userID: The user.
    /// - Returns: The schema.
    /// - Throws: `RecordRefusal` when there is no such collection for the user, `PostgresError`.
    package func schema(reaching collection: String, by userID: Int) async throws -> Schema {
        let schema = try await schemas.newest()
        let reader = RecordReader(userID: userID, collection: try schema.collection(collection))
        guard try await store.reaches(reader) else { throw RecordRefusal(.noCollection) }
        return schema.schema
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
            guard case .reference(let name)? = collection.definition.field(field)?.type.element else {
                throw RecordRefusal(.noReference(field: field))
            }
            targets.append(try schema.collection(name))
        }
        return targets
    }

    /// How many records fit into a page with their targets, and the keys of these targets.
    ///
    /// The first record always does, with as many of its targets as fit.
    static func fitting(
        _ rows: [RecordRow],
        _ references: [Int: [(key: Int, byteCount: Int)]]
    ) -> (count: Int, included: [Int]) {
        // Beside its data, a record has names, times and perhaps readers and URLs.
        let usualBytes = 512
        var (bytes, included) = (0, Set<Int>())
        for (position, row) in rows.enumerated() {
            var new = (references[row.key] ?? []).filter { !included.contains($0.key) }
            bytes += row.record.data.utf8.count
            if position == 0 {
                var room = RecordQuery.maxPageBytes - bytes
                new = Array(
                    new.prefix { target in
                        room -= target.byteCount + usualBytes
                        return room >= 0
                    }
                )
            }
            bytes += new.reduce(0) { $0 + $1.byteCount + usualBytes }
            if bytes > RecordQuery.maxPageBytes, position > 0 { return (position, included.sorted()) }
            included.formUnion(new.map(\.key))
        }
        return (rows.count, included.sorted())
    }
}
