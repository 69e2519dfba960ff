import JSON
import OrderedCollections
import RecordSchema

/// Decides on the operations of a call: a pure function of the snapshot that was read under locks.
struct RecordPlanner {
    let schema: AppliedSchema
    let collection: AppliedCollection
    let snapshot: RecordSnapshot

    var author: RecordAuthor { snapshot.author }
    var recipient: MemberStream? { snapshot.recipient }

    /// The result of an operation.
    enum Outcome {
        case draft(RecordDraft)
        /// The record was sent to the inbox before.
        case sentBefore(StoredRecord)
        /// The record was sent to the inbox, and deleted there.
        case deletedBefore
    }

    func existing(_ id: String) -> ExistingRecord? { snapshot.records[snapshot.name(id, in: collection)] }

    /// Decides on one operation.
    func outcome(of operation: PreparedOperation) throws(RecordRefusal) -> Outcome {
        do throws(RecordRefusal) {
            if snapshot.isSender, let sent = sentRecord(operation.id) {
                return try outcome(of: operation, sentBefore: sent)
            }
            if case .at(let time) = operation.expiry, time.milliseconds <= author.now.milliseconds {
                throw RecordRefusal(.invalidExpiry)
            }
            guard let record = existing(operation.id) else { return .draft(try creation(operation)) }
            let rights = record.rights(of: author.streams(in: collection))
            switch operation.action {
            case .create: throw RecordRefusal(.taken)
            case .put, .patch: return .draft(try change(of: record, by: operation, rights))
            case .delete where rights == .read && collection.definition.access == .acl:
                return .draft(try leaving(record, by: operation))
            case .delete:
                try Self.require(.delete, among: rights, operation.condition, of: record)
                return .draft(deletion(of: record, at: operation.position))
            }
        } catch {
            throw RecordRefusal(error.reason, at: operation.position)
        }
    }

    // MARK: New records

    private func creation(_ operation: PreparedOperation) throws(RecordRefusal) -> RecordDraft {
        guard let content = operation.content else { throw RecordRefusal(.noRecord) }
        switch operation.condition {
        case .none, .absent: break
        // The answer is that of a record that this user may not see.
        case .exists, .version: throw RecordRefusal(.noRecord)
        }
        let data = try content.get()
        if let role = collection.role, !author.roleIDs.contains(role.id) {
            throw RecordRefusal(author.onlyReads(collection) ? .forbidden : .noCollection)
        }
        if collection.definition.hasIntegerIDs, !RecordID.isInteger(operation.id), operation.namesRecord {
            throw RecordRefusal(.idNotInteger)
        }
        let sharing = try sharing(of: nil, after: operation, mayShare: true)
        return RecordDraft(
            position: operation.position,
            collection: collection,
            name: snapshot.name(operation.id, in: collection),
            owner: author.member,
            recipientStream: recipient?.streamID,
            content: RecordDraft.Content(
                data: data,
                expiresAt: operation.expiry.end(after: nil),
                newLinks: data.links,
                sentDigest: snapshot.isSender ? operation.sentDigest : nil
            ),
            grants: sharing.sorted { $0.key < $1.key }.map { stream, rights in
                GrantChange(stream: stream, memberID: author.memberIDs[stream], from: nil, to: rights, isChange: true)
            }
        )
    }

    /// The record whose readers a new one gets: its parent, if the author may write that.
    ///
    /// Nil when the operation names readers or writers.
    func inheritedFrom(_ operation: PreparedOperation) -> ExistingRecord? {
        guard operation.inherits, let rule = schema.parentRule(of: collection), let name = operation.parent,
            let parent = snapshot.records[name], parent.rights(of: author.streams(in: rule.parent)).contains(.write)
        else { return nil }
        return parent
    }

    /// The rights of streams after an operation.
    ///
    /// A list of readers or writers that is sent replaces the old one; a list that is not sent stays as it is. A
    /// present reader may be named again, even after blocking the author. A new record without lists has the readers of
    /// its parent.
    private func sharing(
        of record: ExistingRecord?,
        after operation: PreparedOperation,
        mayShare: Bool
    ) throws(RecordRefusal) -> [Int: Rights] {
        let owner = record?.owner.streamID ?? author.member.streamID
        if operation.namesMembers {
            guard collection.definition.access == .acl else { throw RecordRefusal(.notShared) }
            guard mayShare else { throw RecordRefusal(.forbidden) }
        } else if let record {
            return record.sharing
        }
        func streams(_ ids: [String]?, _ right: Rights) throws(RecordRefusal) -> [Int] {
            guard let ids else {
                return record?.sharing.filter { $0.key != owner && $0.value.contains(right) }.map(\.key) ?? []
            }
            var streams: [Int] = []
            for id in Set(ids) where id != author.member.id {
                let known = author.reader(id) ?? record.flatMap { author.presentReader(id, of: $0) }
                guard let member = known else { throw RecordRefusal(.unknownReader) }
                streams.append(member.streamID)
            }
            return streams
        }
        var readers = try streams(operation.readers, .read)
        let writers = try streams(operation.writers, .write)
        if let parent = inheritedFrom(operation) {
            // Left out are members who have blocked the author, and those who are disabled.
            readers = parent.readers.filter { $0 != author.member.id }.compactMap(author.reader).map(\.streamID)
        }
        guard Set(readers + writers).count <= RecordLimits.maxReaderCount else { throw RecordRefusal(.tooManyReaders) }
        return collection.sharing(owner: owner, recipient: recipient?.streamID, readers: readers, writers: writers)
    }

    // MARK: Records that are there

    private func change(
        of record: ExistingRecord,
        by operation: PreparedOperation,
        _ rights: Rights
    ) throws(RecordRefusal) -> RecordDraft {
        try Self.require(.write, among: rights, operation.condition, of: record)
        let expiresAt = operation.expiry.end(after: record.expiresAt)
        // Setting an expiry is a later deletion.
        guard expiresAt == record.expiresAt || rights.contains(.delete) else { throw RecordRefusal(.forbidden) }
        let sharing = try sharing(of: record, after: operation, mayShare: rights.contains(.share))
        return RecordDraft(
            of: record,
            in: collection,
            at: operation.position,
            try content(of: record, after: operation, expiresAt: expiresAt),
            sharing: sharing,
            memberIDs: author.memberIDs,
            by: [author.member.userID]
        )
    }

    /// The contents of a record after an operation.
    private func content(
        of record: ExistingRecord,
        after operation: PreparedOperation,
        expiresAt: Timestamp?
    ) throws(RecordRefusal) -> RecordDraft.Content {
        let oldValue = RecordData.value(stored: record.data)
        let setFields = schema.schema.setFields(of: collection.name)
        let data: RecordData
        if let whole = operation.content, setFields.isEmpty {
            data = try whole.get()
        } else {
            var value = operation.changed(oldValue)
            if case .object(var members) = value, case .object(let oldMembers) = oldValue {
                // Only new children change these fields.
                for name in setFields { members[name] = oldMembers[name] }
                value = .object(members)
            }
            data = try RecordData.checked(value, in: collection).get()
        }
        let old = RecordData(stored: record.data, oldValue, in: collection.definition)
        return RecordDraft.Content(data, changing: old, expiresAt: expiresAt)
    }

    /// The draft of a record that a reader leaves.
    ///
    /// It gets a new version, since its owner sees its readers. Only the owner and the leaving reader receive the
    /// change.
    private func leaving(_ record: ExistingRecord, by operation: PreparedOperation) throws(RecordRefusal) -> RecordDraft
    {
        try Self.check(operation.condition, version: record.version)
        var sharing = record.sharing
        sharing[author.member.streamID] = nil
        return RecordDraft(
            of: record,
            in: collection,
            at: operation.position,
            RecordDraft.Content(of: record, in: collection),
            sharing: sharing,
            by: [author.member.userID],
            informing: Set(sharing.filter { $0.value.contains(.share) }.keys)
        )
    }

    func deletion(of record: ExistingRecord, at position: Int) -> RecordDraft {
        RecordDraft(of: record, in: collection, at: position, nil, by: [author.member.userID])
    }

    /// Requires a right to a record, and the condition of the call.
    ///
    /// Without any right, the record does not exist for the author.
    private static func require(
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
}
