import SelfieClient

/// Creates, changes and deletes records.
extension ServiceState {
    /// Does all operations of a call, or none.
    ///
    /// - Parameters:
    ///   - operations: What to do, at most ``RecordOperation/maxCount``.
    ///   - location: Where the records are.
    ///   - userID: Who makes the call.
    /// - Returns: The records, without those that were deleted.
    /// - Throws: `ServiceRefusal`.
    mutating func write(_ operations: [RecordOperation], in location: RecordLocation, by userID: String)
        throws(ServiceRefusal) -> [StoredRecord]
    {
        var seen: Set<String> = []
        for operation in operations where !ItemKey.isValid(operation.id) || !seen.insert(operation.id).inserted {
            throw .recordIDInvalid.ofRecord(at: operation.position)
        }
        let planner = try RecordPlanner(self, location, by: userID)
        let outcomes = try planner.outcomes(of: operations)
        let parents = try newestOfParents(operations, outcomes, planner)
        var written: [StoredRecord] = []
        for (operation, outcome) in zip(operations, outcomes) {
            switch outcome {
            case .created(let record), .updated(let record): written.append(store(record, operation, by: userID))
            case .left(let record): grant(records.change(record, at: now), author: userID) { $0 == record.ownerID }
            case .sentBefore(let message): written.append(message)
            case .deleted, .deletedBefore: break
            }
        }
        remove(
            outcomes.compactMap { outcome in if case .deleted(let record) = outcome { record.key } else { nil } },
            author: userID
        )
        for (key, change) in parents { set(change.field, to: .string(change.child), of: key, author: userID) }
        return written
    }

    /// Stores a record that is new or changed.
    ///
    /// - Returns: The record as it is now, or the message as it was sent.
    private mutating func store(_ record: StoredRecord, _ operation: RecordOperation, by userID: String) -> StoredRecord
    {
        let (old, photosBefore) = (records[record.key], photoIDs(of: record.key))
        var record = record
        let rules = schema.collections[record.key.collection].map(RecordRules.init)
        for link in rules?.links(of: record.data) ?? [] { record.links[link] = old?.links[link] ?? userID }
        let stored = old == nil ? records.add(record) : records.change(record, at: now)
        grant(stored, author: userID)
        removeUnusedPhotos(photosBefore.subtracting(photoIDs(of: record.key)))
        guard old == nil, let inbox = record.key.inbox, inbox != userID else { return stored }
        let message = SentMessage(
            ownerID: userID,
            data: operation.data ?? [:],
            createdAt: stored.createdAt,
            expiresAt: stored.expiresAt
        )
        records.sent[record.key] = message
        return message.message(record.key)
    }

    // MARK: Parents

    private struct ParentChange {
        let field: String
        let child: String
    }

    /// The last new record of each parent that the author may write.
    private func newestOfParents(
        _ operations: [RecordOperation],
        _ outcomes: [RecordPlanner.Outcome],
        _ planner: RecordPlanner
    )
        throws(ServiceRefusal) -> [ItemKey: ParentChange]
    {
        var changes: [ItemKey: ParentChange] = [:]
        for (operation, outcome) in zip(operations, outcomes) {
            guard case .created(let record) = outcome, let rule = schema.collections[record.key.collection]?.parent,
                let parent = planner.parent(of: record.data)
            else { continue }
            changes[parent.key] = ParentChange(field: rule.set, child: record.key.id)
            guard RecordRules.fits(parent.data.merging([rule.set: .string(record.key.id)]) { $1 }) else {
                let error = "\(rule.field) - refers to a record that has no room for more data,"
                throw ServiceRefusal.recordInvalid([error]).ofRecord(at: operation.position)
            }
        }
        return changes
    }

    /// Sets a field of a record that only its children set.
    mutating func set(_ field: String, to value: JSONValue, of key: ItemKey, author: String?) {
        guard var record = records[key] else { return }
        record.data[field] = value
        grant(records.change(record, at: now), author: author)
    }

    /// Makes a new version of a record without a change of its data.
    mutating func touch(_ key: ItemKey) {
        guard let record = records[key] else { return }
        grant(records.change(record, at: now), author: nil)
    }
}
