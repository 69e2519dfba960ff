import JSON
import OrderedCollections
package import Postgres
package import RecordSchema
import SelfieAccounts
import SelfiePhotos

/// Adds records of other services, with their owners and times, in batches.
///
/// Records are added as calls add them: with grants, index values and numbers in the streams of their readers. Subscriptions and
/// webhooks are not told, and no limit of a user counts.
package struct ImportRecords: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache

    /// How many lines are checked or added at once.
    package static let batchSize = 500
    private static let maxAttemptCount = 5

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
        schemas = SchemaCache(store: SchemaStore(postgres: postgres))
    }

    /// A line of a file.
    package struct Line: Sendable {
        /// From 1.
        package let number: Int
        package let record: ImportedRecord

        package init(number: Int, record: ImportedRecord) { (self.number, self.record) = (number, record) }
    }

    /// Why a line can't be imported.
    package struct Refusal: Sendable, Equatable {
        package let line: Int
        package let reason: Reason

        package enum Reason: Sendable, Equatable {
            case noCollection(String)
            case noMember(String)
            /// There is a record with this id.
            case taken(String)
            /// Another line of the file has this id.
            case repeated(String)
            /// The ids of its collection are whole numbers.
            case idNotInteger(String)
            /// Only records of an inbox have a recipient, and each has one.
            case recipient
            /// Only records of an `acl` collection have readers and writers.
            case notShared
            case invalid([RecordValidationError])
        }
    }

    /// The records of a file so far.
    package struct SeenRecords: Sendable {
        fileprivate var names: Set<RecordName> = []

        package init() {}
    }

    /// What a batch is made of: members and collections that exist.
    private struct Parts {
        let schema: AppliedSchema
        let members: [String: MemberStream]
        /// The ids of members, by stream.
        let memberIDs: [Int: String]
        /// The records whose ids are taken.
        let taken: Set<RecordName>
    }

    /// How many lines of a file were imported before; 0 for a new one.
    ///
    /// - Parameter file: The file's SHA-256 digest, in hexadecimal.
    /// - Returns: The number of lines.
    /// - Throws: `PostgresError`.
    package func lineCount(of file: String) async throws -> Int {
        try await ImportTable.lineCount(of: file, postgres)
    }

    /// Checks some lines, and adds nothing.
    ///
    /// - Parameters:
    ///   - lines: At most ``batchSize``.
    ///   - isAdded: Whether they were imported before: then their ids are taken by themselves.
    ///   - seen: The records of the lines before, which get these.
    /// - Returns: What can't be imported.
    /// - Throws: `PostgresError`.
    package func check(_ lines: [Line], isAdded: Bool, seen: inout SeenRecords) async throws -> [Refusal] {
        var names: Set<RecordName> = []
        let refusals = try await schemas.withSchema { schema -> [Refusal] in
            names = []
            return try await postgres.withTransaction { connection -> [Refusal] in
                let parts = try await parts(of: lines, schema, locking: false, on: connection)
                if isAdded {
                    // Whatever has become of their members since.
                    names.formUnion(lines.compactMap { Self.name(of: $0.record, schema, parts.members) })
                    return []
                }
                var refusals: [Refusal] = []
                for line in lines {
                    do {
                        let draft = try Self.draft(of: line, parts)
                        if seen.names.contains(draft.name) || !names.insert(draft.name).inserted {
                            refusals.append(Refusal(line: line.number, reason: .repeated(draft.name.id)))
                        }
                    } catch let refusal as LineRefused {
                        refusals.append(Refusal(line: line.number, reason: refusal.reason))
                    }
                }
                return refusals
            }
        }
        seen.names.formUnion(names)
        return refusals
    }

    /// Adds some lines, but those that can't be added any more: somebody may have used an id since they were checked.
    ///
    /// - Parameters:
    ///   - lines: The next lines of the file, at most ``batchSize``.
    ///   - file: The file's SHA-256 digest, in hexadecimal.
    ///   - lineCount: How many of its lines were imported before.
    /// - Returns: What was not added.
    /// - Throws: ``ImportedElsewhere``, `RecordsBusy`, `PostgresError`.
    package func add(_ lines: [Line], of file: String, after lineCount: Int) async throws -> [Refusal] {
        for _ in 1..<Self.maxAttemptCount {
            do {
                return try await attempt(lines, of: file, after: lineCount)
            } catch is RecordsBusy {
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        return try await attempt(lines, of: file, after: lineCount)
    }

    private func attempt(_ lines: [Line], of file: String, after lineCount: Int) async throws -> [Refusal] {
        try await schemas.withSchema { schema in
            try await postgres.withTransaction { connection in
                try await SchemaLock.share(on: connection)
                let version = try await connection.query("SELECT \(part: SchemaStore.versionColumn) AS version")
                guard try version[0].decode("version") == schema.version else { throw SchemaChanged() }
                try await ImportTable.lock(file, at: lineCount, on: connection)
                let parts = try await parts(of: lines, schema, locking: true, on: connection)
                var (drafts, refusals): ([RecordDraft], [Refusal]) = ([], [])
                for line in lines {
                    do {
                        drafts.append(try Self.draft(of: line, parts))
                    } catch let refusal as LineRefused {
                        refusals.append(Refusal(line: line.number, reason: refusal.reason))
                    }
                }
                let transaction = RecordTransaction(connection: connection, schema: schema)
                try await raiseLastNumbers(by: drafts, transaction)
                guard let targets = try await transaction.targets(of: drafts, by: nil) else { throw RecordsBusy() }
                let written = try await transaction.write(drafts, to: targets, tellsOthers: false).rows
                let own = Set(drafts.map(\.target))
                let unresolved = zip(drafts, written).filter { draft, _ in
                    draft.content?.newLinks.contains { link in
                        if case .record = link.target {
                            !own.contains(link.target) && !targets.has(link.target)
                        } else {
                            false
                        }
                    } ?? false
                }
                try await ImportTable.move(
                    file,
                    to: lines.last?.number ?? lineCount,
                    unresolved: unresolved.map(\.1.key),
                    on: connection
                )
                return refusals
            }
        }
    }

    /// Has new records get higher numbers than those of the file.
    private func raiseLastNumbers(by drafts: [RecordDraft], _ transaction: RecordTransaction) async throws {
        let greatest = drafts.filter(\.collection.definition.hasIntegerIDs).reduce(into: [Int: Int]()) {
            greatest,
            draft in
            greatest[draft.collection.id] = max(greatest[draft.collection.id] ?? 0, Int(draft.name.id) ?? 0)
        }
        // The greatest of all would leave none for others.
        for (collection, number) in greatest.sorted(by: { $0.key < $1.key }) where number < RecordID.maxInteger / 2 {
            try await transaction.raiseLastNumber(to: number, in: collection)
        }
    }

    /// Looks up once more what records refer to that came before their targets, and ends the import.
    ///
    /// - Parameter file: The file's SHA-256 digest, in hexadecimal.
    /// - Returns: How many records refer to something that is not there.
    /// - Throws: `PostgresError`.
    package func finish(_ file: String) async throws -> Int {
        var (last, danglingCount): (Int, Int) = (0, 0)
        while true {
            let after = last
            let done = try await RecordTransaction.run(on: postgres, schemas) {
                transaction -> (last: Int?, dangling: Int) in
                let keys = try await ImportTable.unresolved(
                    file,
                    after: after,
                    count: Self.batchSize,
                    on: transaction.connection
                )
                guard let end = keys.last else { return (nil, 0) }
                let drafts = try await transaction.lock(keys: keys).compactMap { record -> RecordDraft? in
                    guard let collection = transaction.schema.collection(id: record.name.collectionID) else {
                        return nil
                    }
                    let data = RecordData(stored: record.data, in: collection.definition)
                    return RecordDraft(
                        of: record,
                        in: collection,
                        RecordDraft.Content(data: data, expiresAt: record.expiresAt, newLinks: data.links),
                        isReview: true
                    )
                }
                guard let targets = try await transaction.targets(of: drafts, by: nil) else { throw RecordsBusy() }
                try await transaction.write(drafts, to: targets, tellsOthers: false)
                let dangling = drafts.count { draft in
                    draft.content?.newLinks.contains { link in
                        if case .record = link.target { !targets.has(link.target) } else { false }
                    } ?? false
                }
                return (end, dangling)
            }
            danglingCount += done.dangling
            guard let end = done.last else { break }
            last = end
        }
        try await ImportTable.forget(file, postgres)
        return danglingCount
    }

    // MARK: - Lines

    private struct LineRefused: Error {
        let reason: Refusal.Reason
    }

    private func parts(
        of lines: [Line],
        _ schema: AppliedSchema,
        locking: Bool,
        on connection: PostgresConnection
    ) async throws -> Parts {
        let names = Array(Set(lines.flatMap(\.record.members)))
        let rows = try await connection.query(
            """
            SELECT found.name, found.id::bigint AS user_id, member_id, streams.id AS stream_id FROM (
                SELECT asked.name, users.id, member_id FROM unnest(\(names)) AS asked (name)
                    JOIN users ON lower(btrim(email)) = lower(btrim(asked.name))
                UNION ALL SELECT asked.name, users.id, member_id FROM unnest(\(names)) AS asked (name)
                    JOIN users ON member_id = asked.name
            ) AS found JOIN streams ON streams.user_id = found.id
            """
        )
        let members = try rows.reduce(into: [String: MemberStream]()) { members, row in
            members[try row.decode("name")] = MemberStream(
                userID: try row.decode("user_id"),
                id: try row.decode("member_id"),
                streamID: try row.decode("stream_id")
            )
        }
        if locking {
            let ids = Array(Set(members.values.map(\.userID)))
            let locked = try await connection.query(
                "SELECT FROM users WHERE id = ANY(\(ids)) ORDER BY id FOR KEY SHARE"
            )
            // One was deleted in between.
            guard locked.count == ids.count else { throw RecordsBusy() }
        }
        let wanted = lines.compactMap { Self.name(of: $0.record, schema, members) }
        let taken = try await connection.query(
            """
            SELECT records.collection_id::bigint AS collection_id, nullif(records.recipient_id, 0)::bigint AS recipient_id, records.id
            FROM unnest(\(wanted.map(\.collectionID)), \(wanted.map(\.recipientID)), \(wanted.map(\.id)))
                AS asked (collection_id, recipient_id, id)
            JOIN records ON records.collection_id = asked.collection_id
                AND records.recipient_id = coalesce(asked.recipient_id, 0) AND records.id = asked.id
            WHERE deleted_at IS NULL
            """
        )
        return Parts(
            schema: schema,
            members: members,
            memberIDs: Dictionary(members.values.map { ($0.streamID, $0.id) }) { $1 },
            taken: Set(
                try taken.map { row in
                    RecordName(
                        collectionID: try row.decode("collection_id"),
                        recipientID: try row.decodeIfPresent("recipient_id"),
                        id: try row.decode("id")
                    )
                }
            )
        )
    }

    private static func name(
        of record: ImportedRecord,
        _ schema: AppliedSchema,
        _ members: [String: MemberStream]
    ) -> RecordName? {
        guard let collection = try? schema.collection(record.collection) else { return nil }
        let recipient = record.recipient.flatMap { members[$0]?.userID }
        return RecordName(collectionID: collection.id, recipientID: recipient, id: record.id)
    }

    /// The draft of a new record.
    private static func draft(of line: Line, _ parts: Parts) throws(LineRefused) -> RecordDraft {
        let record = line.record
        guard let collection = try? parts.schema.collection(record.collection) else {
            throw LineRefused(reason: .noCollection(record.collection))
        }
        for name in record.members where parts.members[name] == nil { throw LineRefused(reason: .noMember(name)) }
        guard let owner = parts.members[record.owner] else { throw LineRefused(reason: .noMember(record.owner)) }
        let recipient = record.recipient.flatMap { parts.members[$0] }
        let access = collection.definition.access
        guard (access == .inbox) == (recipient != nil) else { throw LineRefused(reason: .recipient) }
        guard access == .acl || record.readers.isEmpty && record.writers.isEmpty else {
            throw LineRefused(reason: .notShared)
        }
        guard !collection.definition.hasIntegerIDs || RecordID.isInteger(record.id) else {
            throw LineRefused(reason: .idNotInteger(record.id))
        }
        let name = RecordName(collectionID: collection.id, recipientID: recipient?.userID, id: record.id)
        guard !parts.taken.contains(name) else { throw LineRefused(reason: .taken(record.id)) }
        let data: RecordData
        do {
            data = try RecordData(record.data, in: collection.definition)
        } catch {
            throw LineRefused(reason: .invalid(error.errors))
        }
        func streams(_ names: [String]) -> [Int] {
            names.compactMap { parts.members[$0]?.streamID }.filter { $0 != owner.streamID }
        }
        let sharing = collection.sharing(
            owner: owner.streamID,
            recipient: recipient?.streamID,
            readers: streams(record.readers),
            writers: streams(record.writers)
        )
        return RecordDraft(
            position: nil,
            collection: collection,
            name: name,
            owner: owner,
            recipientStream: recipient?.streamID,
            content: RecordDraft.Content(
                data: data,
                expiresAt: record.expiresAt,
                newLinks: data.links,
                importedCreation: record.createdAt,
                importedUpdate: record.updatedAt ?? record.createdAt
            ),
            grants: sharing.sorted { $0.key < $1.key }.map { stream, rights in
                GrantChange(stream: stream, memberID: parts.memberIDs[stream], from: nil, to: rights, isChange: true)
            }
        )
    }
}
