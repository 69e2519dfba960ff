import Encodings
import OrderedCollections
import RecordSchema

/// Decides what a call makes of records: pure, from what was read under locks.
struct RecordPlanner {
    let collection: AppliedCollection
    let author: RecordAuthor
    /// The member in whose inbox the records are; nil for other collections.
    let recipient: MemberStream?
    /// The records of the call's ids that are there.
    let existing: [String: ExistingRecord]
    /// The ids of the call that were used in the inbox before, and whose records were deleted.
    let deletedMessages: [String: SentRecord]
    /// The collection of what new records belong to; nil where the schema names none.
    let parentCollection: AppliedCollection?
    /// What new records belong to, by id.
    let parents: [String: ExistingRecord]
    /// The fields that only new records of other collections set.
    let setFields: [String]
    let digests: SentDigests

    /// What becomes of an operation.
    enum Outcome {
        case draft(RecordDraft)
        /// The record was sent to the inbox before.
        case sentBefore(StoredRecord)
        /// The record was sent to the inbox, and deleted there.
        case deletedBefore
    }

    private var streams: Set<Int> { author.streams(in: collection) }

    /// Whether the author has sent the record, or sends it, to somebody else's inbox.
    private var isSender: Bool { recipient.map { $0.userID != author.member.userID } ?? false }

    /// Decides on one operation.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - position: Its position in the call.
    /// - Returns: What becomes of it.
    /// - Throws: `RecordRefusal`.
    func outcome(of operation: RecordOperation, at position: Int) throws(RecordRefusal) -> Outcome {
        let record = operation.id.flatMap { existing[$0] }
        do throws(RecordRefusal) {
            if isSender, let id = operation.id, let sent = sentRecord(id) {
                return try outcome(of: operation, sentBefore: sent, at: position)
            }
            try checkExpiry(operation.expiry)
            guard let record else { return try creation(operation, at: position) }
            let rights = record.rights(of: streams)
            switch operation.action {
            case .create: throw RecordRefusal(.taken)
            case .put, .patch: return .draft(try change(of: record, by: operation, rights, at: position))
            case .delete where rights == .read && collection.definition.access == .acl:
                return .draft(try leaving(record, by: operation, at: position))
            case .delete: return .draft(try deletion(of: record, by: operation, rights, at: position))
            }
        } catch {
            throw RecordRefusal(error.reason, at: position)
        }
    }

    // MARK: Creation

    private func creation(_ operation: RecordOperation, at position: Int) throws(RecordRefusal) -> Outcome {
        guard [.create, .put].contains(operation.action) else { throw RecordRefusal(.noRecord) }
        switch operation.condition {
        case .none, .absent: break
        // It is as if it were there, and not for this user.
        case .exists, .version: throw RecordRefusal(.noRecord)
        }
        let value = withoutSetFields(Self.object(operation.data ?? "{}"))
        let data = try Self.checked(value, in: collection)
        let id = operation.id ?? RecordID.make()
        if let role = collection.role, !author.roleIDs.contains(role.id) { throw RecordRefusal(.noCollection) }
        let named: Named
        if let inherited = inheritedMembers(operation, data) {
            named = inherited
        } else {
            named = try namedMembers(operation)
        }
        var sharing: [Int: Rights] = [:]
        for (grantee, rights) in collection.definition.access.rights {
            for stream in streams(of: grantee, named) { sharing[stream, default: []].formUnion(rights) }
        }
        return .draft(
            RecordDraft(
                position: position,
                collection: collection,
                existing: nil,
                id: id,
                content: RecordDraft.Content(
                    data: data,
                    expiry: operation.expiry,
                    newLinks: data.links,
                    keptFields: [],
                    sentDigest: isSender ? recipient.map { digests.digest(of: value, id: id, to: $0.id) } : nil
                ),
                sharing: sharing,
                memberIDs: Dictionary(
                    (named.readers + named.writers).map { ($0.streamID, $0.id) },
                    uniquingKeysWith: { $1 }
                )
            )
        )
    }

    typealias Named = (readers: [MemberStream], writers: [MemberStream])

    /// The streams of somebody whom a new record's grants are for.
    private func streams(of grantee: Access.Grantee, _ named: Named) -> [Int] {
        switch grantee {
        case .owner: [author.member.streamID]
        case .reader: named.readers.map(\.streamID)
        case .writer: named.writers.map(\.streamID)
        case .recipient: recipient.map { [$0.streamID] } ?? []
        case .role: collection.role.map { [$0.streamID] } ?? []
        case .managingRoles: collection.managers.map(\.streamID)
        case .everybody: [collection.streamID]
        }
    }

    /// The members whom an operation names, without the author.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - record: The record that it changes; nil for a new one. Who reads it already stays, whatever came since.
    /// - Returns: The members.
    /// - Throws: `RecordRefusal` for one who can't be named.
    func namedMembers(
        _ operation: RecordOperation,
        changing record: ExistingRecord? = nil
    ) throws(RecordRefusal) -> Named {
        guard collection.definition.access == .acl else {
            guard operation.readers == nil, operation.writers == nil else { throw RecordRefusal(.notShared) }
            return ([], [])
        }
        func members(_ ids: [String]?) throws(RecordRefusal) -> [MemberStream] {
            var members: [MemberStream] = []
            for id in Set(ids ?? []) where id != author.member.id {
                let known = author.reader(id) ?? record.flatMap { author.presentReader(id, of: $0) }
                guard let member = known else { throw RecordRefusal(.unknownReader) }
                members.append(member)
            }
            return members
        }
        let named: Named = (try members(operation.readers), try members(operation.writers))
        guard Set((named.readers + named.writers).map(\.id)).count <= RecordLimits.maxReaderCount else {
            throw RecordRefusal(.tooManyReaders)
        }
        return named
    }

    private func checkExpiry(_ expiry: RecordOperation.Expiry) throws(RecordRefusal) {
        guard case .at(let time) = expiry, let now = Timestamp(author.now) else { return }
        if time.milliseconds <= now.milliseconds { throw RecordRefusal(.invalidExpiry) }
    }

    // MARK: Deletion

    private func deletion(
        of record: ExistingRecord,
        by operation: RecordOperation,
        _ rights: Rights,
        at position: Int
    ) throws(RecordRefusal) -> RecordDraft {
        try Self.require(.delete, among: rights, operation.condition, of: record)
        return Self.deletion(of: record, in: collection, at: position)
    }

    /// The draft of a record that goes.
    static func deletion(
        of record: ExistingRecord,
        in collection: AppliedCollection,
        at position: Int?
    ) -> RecordDraft {
        RecordDraft(
            position: position,
            collection: collection,
            existing: record,
            id: record.id,
            content: nil,
            sharing: [:],
            memberIDs: [:]
        )
    }

    // MARK: Parts

    static func checked(
        _ value: JSONValue,
        in collection: AppliedCollection
    ) throws(RecordRefusal) -> RecordData {
        do throws(InvalidRecord) {
            return try RecordData(value, in: collection.definition)
        } catch {
            throw RecordRefusal(.invalid(error.errors))
        }
    }

    /// Requires a right to a record, and the condition of the call.
    ///
    /// Without any right, it is as if there were no record.
    static func require(
        _ right: Rights,
        among rights: Rights,
        _ condition: RecordOperation.Condition,
        of record: ExistingRecord
    ) throws(RecordRefusal) {
        guard !rights.isEmpty else { throw RecordRefusal(.noRecord) }
        guard rights.contains(right) else { throw RecordRefusal(.forbidden) }
        try check(condition, version: record.version)
    }

    static func check(_ condition: RecordOperation.Condition, version: Int) throws(RecordRefusal) {
        switch condition {
        case .none, .exists: break
        case .absent: throw RecordRefusal(.otherVersion)
        case .version(let versions): if !versions.contains(version) { throw RecordRefusal(.otherVersion) }
        }
    }

    /// Reads what a call brings, which was read before.
    static func object(_ text: String) -> JSONValue {
        (try? JSONValue.parse(text.utf8)) ?? .null
    }

    /// Reads the data of a record that is there, perhaps from before some texts were refused.
    static func stored(_ text: String) -> JSONValue {
        (try? JSONValue.parse(stored: text.utf8)) ?? .null
    }
}
