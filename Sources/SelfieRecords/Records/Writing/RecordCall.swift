import JSON
import OrderedCollections
import Postgres
import RecordSchema
import SelfieAccounts
import SelfiePhotos

/// A call that writes records, prepared by one schema.
struct RecordCall {
    let schema: AppliedSchema
    private let collection: AppliedCollection
    /// The member whose inbox it is; nil for the caller's own, and for other collections.
    private let inboxOf: String?
    private let session: Session
    private let operations: [PreparedOperation]

    var isInbox: Bool { collection.definition.access == .inbox }

    init(
        _ operations: [RecordOperation],
        in location: RecordLocation,
        by session: Session,
        _ schema: AppliedSchema,
        digests: SentDigests
    ) async throws(RecordRefusal) {
        self.schema = schema
        self.session = session
        inboxOf = location.inboxOf
        let collection = try schema.collection(location.collection)
        self.collection = collection
        guard location.inboxOf == nil || collection.definition.access == .inbox else {
            throw RecordRefusal(.noCollection)
        }
        let digest: ((JSONValue, String) -> String)? = location.inboxOf.map { recipient in
            { digests.digest(of: $0, id: $1, to: recipient) }
        }
        var prepared: [PreparedOperation] = []
        for (position, operation) in operations.enumerated() {
            // Parsing and checking the data takes time. So other tasks run on the thread in between.
            if position > 0 { await Task.yield() }
            prepared.append(PreparedOperation(operation, at: position, in: collection, schema, digest: digest))
        }
        self.operations = prepared
    }

    // MARK: What counts as sent

    /// The records whose readers must be read before anything is counted, each with the right that the author needs.
    ///
    /// It is the right to share the record, or to write it where only its readers are inherited.
    var sharedRecords: [RecordName: Rights] {
        guard collection.definition.access == .acl else { return [:] }
        var rights: [RecordName: Rights] = [:]
        for operation in operations {
            if operation.namesMembers, operation.action != .create { rights[name(operation)] = .share }
            guard operation.inherits, let parent = operation.parent else { continue }
            rights[parent] = .write
            if operation.action != .create { rights[name(operation)] = .write }
        }
        return rights
    }

    /// The most sends that the call may be: messages to an inbox, and members who do not read ``sharedRecords`` yet.
    func maxSends(_ readers: [RecordName: Set<String>]) -> Int {
        if inboxOf != nil { return operations.count { $0.content != nil } }
        guard collection.definition.access == .acl else { return 0 }
        return operations.reduce(0) { sum, operation in
            let present = readers[name(operation)]
            let inherited = present == nil && operation.inherits ? operation.parent.flatMap { readers[$0] } : nil
            let named = operation.named.union(inherited ?? []).subtracting(present ?? [])
            return sum + named.subtracting([session.memberID]).count
        }
    }

    private func name(_ operation: PreparedOperation) -> RecordName {
        RecordName(collectionID: collection.id, id: operation.id)
    }

    // MARK: Read, decide, write

    /// The result of an attempt.
    enum Attempt {
        case done(Done)
        /// Expired records are in the way.
        case expired(keys: [Int])
        /// Other calls are in the way: readers have changed, or a target of a reference is being deleted.
        case busy
    }

    /// The result of a call.
    struct Done {
        /// Without those that were deleted.
        let records: [StoredRecord]
        /// The streams that are shown a change.
        let streams: Set<Int>
        /// Whether there may be something new to send out.
        let addsDeliveries: Bool
        let sendCount: Int
    }

    /// Runs all operations, or none.
    ///
    /// The readers are those of ``sharedRecords``, as they were before.
    ///
    /// - Throws: `RecordRefusal`, `SchemaChanged`, `SessionError.ended`, `PostgresError`.
    func attempt(
        on connection: PostgresConnection,
        _ readers: [RecordName: Set<String>],
        quotaBytes: Int
    ) async throws -> Attempt {
        let transaction = RecordTransaction(connection: connection, schema: schema)
        // After this lock, the schema's version can't change until the end of the transaction.
        try await SchemaLock.share(on: connection)
        let snapshot = try await read(transaction, readers)
        guard snapshot.expiredKeys.isEmpty else { return .expired(keys: snapshot.expiredKeys) }
        let planner = RecordPlanner(schema: schema, collection: collection, snapshot: snapshot)
        let inherited = operations.compactMap(planner.inheritedFrom).flatMap(\.readers)
        guard inherited.allSatisfy({ snapshot.author.named[$0] != nil }) else { return .busy }

        if planner.isUnreachable(for: operations) { throw RecordRefusal(.noMember) }
        let operations = try await numbered(transaction)
        var outcomes: [RecordPlanner.Outcome] = []
        for operation in operations {
            if operation.position > 0 { await Task.yield() }
            outcomes.append(try planner.outcome(of: operation))
        }
        var drafts = outcomes.compactMap { if case .draft(let draft) = $0 { draft } else { nil } }
        drafts += try planner.parents(of: drafts)
        let maxSends = maxSends(readers)
        let sendCount = isInbox ? maxSends : drafts.reduce(0) { $0 + $1.namedCount }
        guard sendCount <= maxSends else { return .busy }

        try await requireUnreferred(drafts, transaction)
        guard let targets = try await transaction.targets(of: drafts, by: snapshot.author) else { return .busy }
        let author = ChangeAuthor(userID: session.userID, sessionID: session.id)
        let writes = try await transaction.write(drafts, to: targets, by: author, quotaBytes: quotaBytes)
        let written = writes.rows
        let pictured = zip(drafts, written).filter {
            !$0.0.collection.definition.photoFields.isEmpty && $0.0.content != nil
        }
        let photos = try await transaction.photos(of: pictured.map(\.1.key))
        var rows = written.makeIterator()
        let records = zip(operations, outcomes).compactMap { operation, outcome -> StoredRecord? in
            switch outcome {
            case .sentBefore(let record): return record
            case .deletedBefore: return nil
            case .draft(let draft):
                guard let row = rows.next(), operation.action != .delete else { return nil }
                let shown = draft.content?.sentDigest == nil ? photos[row.key] : nil
                return draft.stored(for: snapshot.author, version: row.version, photos: shown ?? [])
            }
        }
        return .done(
            Done(
                records: records,
                streams: drafts.shownStreams,
                addsDeliveries: writes.addsDeliveries,
                sendCount: sendCount
            )
        )
    }

    /// The operations, with numbers as the ids of new records where the collection wants that.
    private func numbered(_ transaction: RecordTransaction) async throws -> [PreparedOperation] {
        guard collection.definition.hasIntegerIDs else { return operations }
        // What will be refused takes no number, and waits for nobody.
        for operation in operations {
            if case .failure(let refusal)? = operation.content {
                throw RecordRefusal(refusal.reason, at: operation.position)
            }
        }
        var numbers = try await transaction.newNumbers(
            operations.count { $0.action == .create && !$0.namesRecord },
            in: collection,
            besides: operations.filter(\.namesRecord).map(\.id)
        ).makeIterator()
        return operations.map { operation in
            guard operation.action == .create, !operation.namesRecord, let number = numbers.next() else {
                return operation
            }
            return operation.numbered(number)
        }
    }

    /// The members that the call names, or may name.
    private func members(_ readers: [RecordName: Set<String>]) -> Set<String> {
        var members = operations.reduce(into: Set<String>()) { members, operation in
            members.formUnion(operation.named)
            if operation.inherits, let parent = operation.parent { members.formUnion(readers[parent] ?? []) }
        }
        if let inboxOf, RecordID.isValid(inboxOf) { members.insert(inboxOf) }
        return members
    }

    private func recipient(_ author: RecordAuthor) throws(RecordRefusal) -> MemberStream {
        guard let inboxOf else { return author.member }
        guard let named = author.named[inboxOf] else { throw RecordRefusal(.noMember) }
        return named.member
    }

    /// Locks the author and the named members, then the records of the call and their parents.
    private func read(
        _ transaction: RecordTransaction,
        _ readers: [RecordName: Set<String>]
    ) async throws -> RecordSnapshot {
        let author = try await transaction.author(userID: session.userID, naming: members(readers))
        let recipient = isInbox ? try recipient(author) : nil
        try author.requireRole(in: collection)
        let ids = operations.filter(\.namesRecord).map(\.id)
        var names = Set(ids.map { RecordName(collectionID: collection.id, recipientID: recipient?.userID, id: $0) })
        names.formUnion(operations.compactMap(\.parent))
        if !isInbox, operations.contains(where: { $0.action == .delete }) {
            let deleted: PostgresQuery = "collection_id = \(collection.id) AND recipient_id = 0 AND id = ANY(\(ids))"
            names.formUnion(try await transaction.parents(naming: deleted))
        }
        let endsAny = operations.contains(where: \.mayEndRecord)
        let locked = try await transaction.lock(names, ends: endsAny, by: [session.userID])
        var snapshot = RecordSnapshot(
            author: author,
            recipient: recipient,
            records: Dictionary(uniqueKeysWithValues: locked.map { ($0.name, $0) })
        )
        if snapshot.isSender, let recipient {
            let sentByAuthor = Set(locked.filter { $0.owner.userID == session.userID }.map(\.id))
            snapshot.deletedMessages = try await transaction.deletedMessages(
                ids.filter { !sentByAuthor.contains($0) },
                in: collection,
                of: recipient.userID,
                askedBy: session.userID
            )
        }
        return snapshot
    }

    private func requireUnreferred(_ drafts: [RecordDraft], _ transaction: RecordTransaction) async throws {
        let ending = drafts.filter(\.endsExisting)
        if ending.isEmpty { return }
        let going = ending.filter { $0.content == nil }.compactMap(\.existing?.key)
        guard let key = try await transaction.referredTo(ending.compactMap(\.existing?.key), besidesBy: going) else {
            return
        }
        throw RecordRefusal(.referredTo, at: ending.first { $0.existing?.key == key }?.position)
    }
}

/// An operation whose data was parsed and checked by a schema, before the database is read.
@dynamicMemberLookup
struct PreparedOperation {
    /// Its position in the call.
    let position: Int
    private let operation: RecordOperation
    /// The record's id, which may be a new one.
    private(set) var id: String
    /// The data of a new record, or of one that is replaced; nil for other operations.
    let content: Result<RecordData, RecordRefusal>?
    /// The parent of a new record; nil for none.
    let parent: RecordName?
    /// Whether a new record gets the readers of its parent, since it names none.
    let inherits: Bool
    /// As ``SentDigests`` makes it; nil for what is not sent to an inbox.
    let sentDigest: String?

    init(
        _ operation: RecordOperation,
        at position: Int,
        in collection: AppliedCollection,
        _ schema: AppliedSchema,
        digest: ((JSONValue, String) -> String)? = nil
    ) {
        self.operation = operation
        self.position = position
        id = operation.id ?? RecordID.make()
        guard operation.action == .create || operation.action == .put else {
            (content, parent, inherits, sentDigest) = (nil, nil, false, nil)
            return
        }
        // Parsed, it takes many times the memory of its text. So only what was checked is stored.
        let sent = Self.value(operation.data)
        var value = sent
        let setFields = schema.schema.setFields(of: collection.name)
        if case .object(var members) = value, !setFields.isEmpty {
            for name in setFields { members[name] = nil }
            value = .object(members)
        }
        let content = RecordData.checked(value, in: collection)
        self.content = content
        parent = (try? content.get()).flatMap { schema.parentRule(of: collection)?.parent(of: $0) }
        inherits = parent != nil && collection.definition.access == .acl && !operation.namesMembers
        sentDigest = digest?(sent, id)
    }

    subscript<Value>(dynamicMember member: KeyPath<RecordOperation, Value>) -> Value { operation[keyPath: member] }

    /// Whether a client has chosen the id.
    var namesRecord: Bool { operation.id != nil }

    /// The same with a number as the id of its new record.
    func numbered(_ number: Int) -> PreparedOperation {
        var operation = self
        operation.id = String(number)
        return operation
    }

    /// Data after the operation.
    func changed(_ old: JSONValue) -> JSONValue {
        guard let data = operation.data else { return old }
        return operation.action == .patch ? old.merged(with: Self.value(data)) : Self.value(data)
    }

    private static func value(_ data: String?) -> JSONValue {
        (try? JSONValue.parse((data ?? "{}").utf8)) ?? .null
    }
}

extension RecordData {
    /// Checks data by the rules of a collection.
    static func checked(_ value: JSONValue, in collection: AppliedCollection) -> Result<RecordData, RecordRefusal> {
        do throws(InvalidRecord) {
            return .success(try RecordData(value, in: collection.definition))
        } catch {
            return .failure(RecordRefusal(.invalid(error.errors)))
        }
    }
}
