import Foundation
import SelfieClient

/// Creates and changes records.
extension ServiceState {
    /// Creates, replaces or changes a record.
    ///
    /// - Parameters:
    ///   - key: The record.
    ///   - content: What was sent, and what for.
    ///   - precondition: What must hold.
    ///   - userID: Who writes it.
    /// - Returns: The record as it is then.
    /// - Throws: `ServiceRefusal`.
    mutating func write(
        _ key: ItemKey,
        _ content: RecordContent,
        _ precondition: RecordPrecondition,
        by userID: String
    ) throws(ServiceRefusal) -> StoredRecord {
        let collection = try collection(key.collection, seenBy: userID)
        guard ItemKey.isValid(key.id) else { throw .recordIDInvalid }
        if case .at(let date) = content.expiry, date <= now { throw .expiryInvalid }
        guard let record = records[key] else { return try create(key, content, precondition, collection, by: userID) }
        let rights = grants.rights(of: userID, to: key)
        guard content.action != .create else { throw .recordIDTaken }
        guard !rights.isEmpty else { throw .recordNotFound }
        guard rights.contains(.write) else { throw .recordForbidden }
        try precondition.check(record.version)
        var next = record
        next.expiresAt = content.expiresAt(after: record.expiresAt)
        guard next.expiresAt == record.expiresAt || rights.contains(.delete) else { throw .recordForbidden }
        try share(&next, content, collection, by: userID, mayShare: rights.contains(.share))
        next.data = content.data(after: record.data)
        // Only new children change these fields.
        for name in setFields(of: key.collection) { next.data[name] = record.data[name] }
        try RecordRules(state: self, collection: collection, author: userID, old: record.data).check(next.data)
        let photosBefore = photoIDs(of: key)
        next = records.change(next, at: now)
        grant(next, author: userID)
        removeUnusedPhotos(photosBefore.subtracting(photoIDs(of: key)))
        return next
    }

    private mutating func create(
        _ key: ItemKey,
        _ content: RecordContent,
        _ precondition: RecordPrecondition,
        _ collection: RecordSchema.Collection,
        by userID: String
    ) throws(ServiceRefusal) -> StoredRecord {
        guard let data = content.data, content.action != .patch else { throw .recordNotFound }
        switch precondition {
        case .none, .absent: break
        // The answer is that of a record that this user may not see.
        case .exists, .version: throw .recordNotFound
        }
        guard mayCreate(in: collection, userID) else { throw .recordForbidden }
        var shape = StoredRecord(
            key: key,
            data: data,
            ownerID: userID,
            readers: [],
            writers: [],
            version: 0,
            createdAt: now,
            updatedAt: now,
            expiresAt: nil,
            number: 0
        )
        try RecordRules(state: self, collection: collection, author: userID, old: [:]).check(data)
        try share(&shape, content, collection, by: userID, mayShare: true)
        let parent = parent(of: shape, collection, writtenBy: userID)
        if let parent, content.readers == nil, content.writers == nil {
            shape.readers = Set(parent.readers + parent.writers + [parent.ownerID]).subtracting([userID])
                .filter { !hasBlocked($0, userID) }.sorted()
        }
        let record = records.add(
            key,
            data,
            ownerID: userID,
            readers: shape.readers,
            writers: shape.writers,
            expiresAt: content.expiresAt(after: nil),
            at: now
        )
        grant(record, author: userID)
        if var parent, let field = collection.parent?.set {
            parent.data[field] = .string(key.id)
            grant(records.change(parent, at: now), author: userID)
        }
        return record
    }

    /// Puts the readers and writers that were sent into a record.
    private func share(
        _ record: inout StoredRecord,
        _ content: RecordContent,
        _ collection: RecordSchema.Collection,
        by userID: String,
        mayShare: Bool
    ) throws(ServiceRefusal) {
        guard content.readers != nil || content.writers != nil else { return }
        guard collection.access == .acl else { throw .readersNotAllowed }
        guard mayShare else { throw .recordForbidden }
        let known = Set(record.readers + record.writers)
        let named = Set((content.readers ?? []) + (content.writers ?? []))
        for id in named.subtracting(known) where accounts[id] == nil || hasBlocked(id, userID) { throw .readerUnknown }
        if let readers = content.readers { record.readers = readers.filter { $0 != record.ownerID } }
        if let writers = content.writers { record.writers = writers.filter { $0 != record.ownerID } }
    }

    /// The record that a new one sets a field of: its author must be able to write it.
    private func parent(of record: StoredRecord, _ collection: RecordSchema.Collection, writtenBy userID: String)
        -> StoredRecord?
    {
        guard let rule = collection.parent, let id = record.data[rule.field]?.text,
            let parent = target(collection.fields?[rule.field]?.target, id, of: userID),
            grants.rights(of: userID, to: parent.key).contains(.write)
        else { return nil }
        return parent
    }

    /// The fields of a collection that only new children of its records change.
    private func setFields(of collection: String) -> [String] {
        schema.collections.values.compactMap { child in
            guard let rule = child.parent, child.fields?[rule.field]?.target == collection else { return nil }
            return rule.set
        }
    }

    /// Makes a new version of a record without a change of its data.
    mutating func touch(_ key: ItemKey) {
        guard let record = records[key] else { return }
        grant(records.change(record, at: now), author: nil)
    }
}
