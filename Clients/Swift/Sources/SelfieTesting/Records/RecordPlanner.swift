import Foundation
import SelfieClient

/// Where the records of a call are.
struct RecordLocation: Sendable {
    let name: String
    /// The member whose inbox it is; nil for the caller's own, and for collections without inboxes.
    let inboxOf: String?
}

/// Decides on the operations of a call, before any of them is done.
struct RecordPlanner {
    /// What becomes of a record.
    enum Outcome {
        case created(StoredRecord)
        case updated(StoredRecord)
        /// A reader has left it.
        case left(StoredRecord)
        case deleted(StoredRecord)
        /// The message was sent before, and is as it was.
        case sentBefore(StoredRecord)
        /// The message was sent before, and deleted by its recipient.
        case deletedBefore

        /// The record as it is to be stored.
        var written: StoredRecord? {
            switch self {
            case .created(let record), .updated(let record): record
            case .left, .deleted, .sentBefore, .deletedBefore: nil
            }
        }
    }

    private let state: ServiceState
    private let name: String
    private let collection: RecordSchema.Collection
    private let author: String
    /// Whose inbox it is; nil for a collection without inboxes.
    private let inbox: String?

    /// - Parameters:
    ///   - state: The service as it is before the call.
    ///   - location: Where the records are.
    ///   - author: Who makes the call.
    /// - Throws: `ServiceRefusal` if the author can see no such collection, or there is no such member.
    init(_ state: ServiceState, _ location: RecordLocation, by author: String) throws(ServiceRefusal) {
        (self.state, name, self.author) = (state, location.name, author)
        collection = try state.collection(location, seenBy: author)
        inbox = collection.access == .inbox ? location.inboxOf ?? author : nil
    }

    /// Whether the records are in somebody else's inbox.
    private var isSender: Bool { inbox.map { $0 != author } ?? false }

    private func key(_ id: String) -> ItemKey { ItemKey(collection: name, inbox: inbox, id: id) }

    private var rules: RecordRules { RecordRules(collection: collection) }

    /// Decides on all operations.
    ///
    /// - Throws: `ServiceRefusal` about the first that is refused.
    func outcomes(of operations: [RecordOperation]) throws(ServiceRefusal) -> [Outcome] {
        if isSender, let inbox, state.hasBlocked(inbox, author),
            operations.contains(where: { [.create, .put].contains($0.action) && !isUsed(key($0.id)) })
        {
            throw MemberCalls.notFound
        }
        var outcomes: [Outcome] = []
        for operation in operations {
            do throws(ServiceRefusal) {
                outcomes.append(try outcome(of: operation))
            } catch {
                throw error.ofRecord(at: operation.position)
            }
        }
        try requireUnreferred(operations, outcomes)
        try requireTargets(operations, outcomes)
        return outcomes
    }

    private func isUsed(_ key: ItemKey) -> Bool { state.records[key] != nil || state.records.sent[key] != nil }

    private func outcome(of operation: RecordOperation) throws(ServiceRefusal) -> Outcome {
        let key = key(operation.id)
        if isSender, isUsed(key) { return try outcome(of: operation, sentBefore: key) }
        if case .at(let date) = operation.expiry, date <= state.now { throw .expiryInvalid }
        guard let record = state.records[key] else { return .created(try creation(key, operation)) }
        let rights = state.grants.rights(of: author, to: key)
        switch operation.action {
        case .create: throw .recordIDTaken
        case .put, .patch: return .updated(try change(of: record, by: operation, rights))
        case .delete where rights == .read && collection.access == .acl:
            try operation.precondition.check(record.version)
            var next = record
            next.readers.removeAll { $0 == author }
            return .left(next)
        case .delete:
            try Self.require(.delete, among: rights, operation.precondition, of: record)
            return .deleted(record)
        }
    }

    private static func require(
        _ right: Rights,
        among rights: Rights,
        _ precondition: RecordPrecondition,
        of record: StoredRecord
    ) throws(ServiceRefusal) {
        guard !rights.isEmpty else { throw .recordNotFound }
        guard rights.contains(right) else { throw .recordForbidden }
        try precondition.check(record.version)
    }

    // MARK: New records, and changed ones

    private func creation(_ key: ItemKey, _ operation: RecordOperation) throws(ServiceRefusal) -> StoredRecord {
        guard let sent = operation.data, operation.action != .patch else { throw .recordNotFound }
        switch operation.precondition {
        case .none, .absent: break
        // The answer is that of a record that this user may not see.
        case .exists, .version: throw .recordNotFound
        }
        let data = sent.filter { !state.setFields(of: name).contains($0.key) }
        try rules.check(data)
        if let role = collection.role, !state.hasRole(author, role) {
            throw state.hasRole(author, collection.readers) ? .recordForbidden : .collectionNotFound
        }
        var record = StoredRecord(
            key: key,
            data: data,
            ownerID: author,
            readers: [],
            writers: [],
            createdAt: state.now,
            updatedAt: state.now,
            expiresAt: operation.expiresAt(after: nil)
        )
        try share(&record, operation, mayShare: true)
        if collection.access == .acl, !operation.namesMembers, let parent = parent(of: data) {
            record.readers = Set(parent.readers + [parent.ownerID]).subtracting([author])
                .filter { !state.hasBlocked($0, author) }.sorted()
        }
        return record
    }

    /// The record that a new one sets a field of, if the author may write it.
    func parent(of data: [String: JSONValue]) -> StoredRecord? {
        guard let rule = collection.parent, let id = data[rule.field]?.text,
            let parent = state.target(collection.fields?[rule.field]?.target, id, of: author),
            state.grants.rights(of: author, to: parent.key).contains(.write)
        else { return nil }
        return parent
    }

    private func change(of record: StoredRecord, by operation: RecordOperation, _ rights: Rights)
        throws(ServiceRefusal) -> StoredRecord
    {
        try Self.require(.write, among: rights, operation.precondition, of: record)
        var next = record
        next.expiresAt = operation.expiresAt(after: record.expiresAt)
        // Setting an expiry is a later deletion.
        guard next.expiresAt == record.expiresAt || rights.contains(.delete) else { throw .recordForbidden }
        try share(&next, operation, mayShare: rights.contains(.share))
        next.data = operation.data(after: record.data)
        // Only new children change these fields.
        for name in state.setFields(of: name) { next.data[name] = record.data[name] }
        try rules.check(next.data)
        return next
    }

    /// Puts the readers and writers that were sent into a record.
    ///
    /// Writers are readers, too. A list that was not sent stays as it is.
    private func share(_ record: inout StoredRecord, _ operation: RecordOperation, mayShare: Bool)
        throws(ServiceRefusal)
    {
        guard operation.namesMembers else { return }
        guard collection.access == .acl else { throw .readersNotAllowed }
        guard mayShare else { throw .recordForbidden }
        let (known, owner) = (record.readers, record.ownerID)
        for id in (operation.readers ?? []) + (operation.writers ?? []) where id != owner && !known.contains(id) {
            guard state.accounts[id] != nil, !state.hasBlocked(id, author) else { throw .readerUnknown }
        }
        record.writers = Set(operation.writers ?? record.writers).subtracting([owner]).sorted()
        record.readers = Set(operation.readers ?? known).union(record.writers).subtracting([owner]).sorted()
        guard record.readers.count <= RecordOperation.maxReaderCount else { throw .tooManyReaders }
    }

    // MARK: Messages that were sent before

    /// Answers the sender of a message with its id: as it was sent, never as it is now.
    private func outcome(of operation: RecordOperation, sentBefore key: ItemKey) throws(ServiceRefusal) -> Outcome {
        let sent = state.records.sent[key]
        let isOwn = sent?.ownerID == author
        switch operation.action {
        case .create: throw .recordIDTaken
        case .patch: throw isOwn ? .recordForbidden : .recordNotFound
        case .put:
            guard let sent, isOwn, sent.data == operation.data else { throw .messageIDTaken }
            try operation.precondition.check(1)
            return .sentBefore(sent.message(key))
        case .delete:
            guard isOwn else { throw .recordNotFound }
            try operation.precondition.check(1)
            guard let record = state.records[key], record.ownerID == author else { return .deletedBefore }
            return .deleted(record)
        }
    }

    // MARK: References

    /// Requires that no other record refers to one that is deleted, or given an expiry.
    private func requireUnreferred(_ operations: [RecordOperation], _ outcomes: [Outcome]) throws(ServiceRefusal) {
        let going = Set(
            outcomes.compactMap { outcome in if case .deleted(let record) = outcome { record.key } else { nil } }
        )
        for (operation, outcome) in zip(operations, outcomes) {
            var ending: ItemKey?
            switch outcome {
            case .deleted(let record): ending = record.key
            case .updated(let record):
                let isNew = record.expiresAt != state.records[record.key]?.expiresAt
                if record.expiresAt != nil, isNew { ending = record.key }
            default: break
            }
            if let ending, state.isReferredTo(ending, besidesBy: going) {
                throw ServiceRefusal.recordReferredTo.ofRecord(at: operation.position)
            }
        }
    }

    /// Requires that what the records newly name is there, and that the author may name it.
    private func requireTargets(_ operations: [RecordOperation], _ outcomes: [Outcome]) throws(ServiceRefusal) {
        let new = Set(
            outcomes.compactMap { outcome in if case .created(let record) = outcome { record.key } else { nil } }
        )
        for (operation, outcome) in zip(operations, outcomes) {
            guard let record = outcome.written else { continue }
            let known = state.records[record.key].map { Set(rules.links(of: $0.data)) } ?? []
            let missing = rules.links(of: record.data).filter { link in
                guard !known.contains(link), let field = collection.fields?[link.field] else { return false }
                switch field.kind {
                case .member, .members: return state.accounts[link.id] == nil
                case .photo, .photos: return state.photos[link.id]?.ownerID != author
                default:
                    let target = ItemKey(collection: field.target ?? "", inbox: nil, id: link.id)
                    return !new.contains(target) && state.target(field.target, link.id, of: author) == nil
                }
            }
            guard missing.isEmpty else {
                let errors = Set(missing.map(\.field)).sorted().map { "\($0) - does not exist, or you may not use it," }
                throw ServiceRefusal.recordInvalid(errors).ofRecord(at: operation.position)
            }
        }
    }
}

extension ServiceState {
    /// The fields of a collection that only new children of its records change.
    func setFields(of collection: String) -> [String] {
        schema.collections.values.compactMap { child in
            guard let rule = child.parent, child.fields?[rule.field]?.target == collection else { return nil }
            return rule.set
        }
    }

    /// Whether a record that stays refers to another one.
    ///
    /// Only references count that its owner has made, or a member who may write it. Fields that children set, and messages to
    /// others, do not count.
    fileprivate func isReferredTo(_ key: ItemKey, besidesBy going: Set<ItemKey>) -> Bool {
        guard let target = records[key] else { return false }
        return records.all.contains { record in
            guard !going.contains(record.key), record.key.inbox == nil || record.key.inbox == record.ownerID else {
                return false
            }
            let name = record.key.collection
            return record.links.contains { link, author in
                guard link.id == key.id, schema.collections[name]?.fields?[link.field]?.target == key.collection,
                    !setFields(of: name).contains(link.field)
                else { return false }
                return author == target.ownerID || grants.rights(of: author, to: key).contains(.write)
            }
        }
    }
}
