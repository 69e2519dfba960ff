import Foundation
import SelfieClient

/// Deletes records.
extension ServiceState {
    /// Deletes a record, or lets its reader leave it.
    ///
    /// - Throws: `ServiceRefusal`.
    mutating func delete(_ key: ItemKey, _ precondition: RecordPrecondition, by userID: String) throws(ServiceRefusal) {
        let collection = try collection(key.collection, seenBy: userID)
        let rights = grants.rights(of: userID, to: key)
        guard let record = records[key], !rights.isEmpty else { throw .recordNotFound }
        if rights == .read, collection.access == .acl {
            try precondition.check(record.version)
            var next = record
            next.readers.removeAll { $0 == userID }
            grant(records.change(next, at: now), author: userID) { $0 == record.ownerID }
            return
        }
        guard rights.contains(.delete) else { throw .recordForbidden }
        try precondition.check(record.version)
        guard !isReferredTo(key) else { throw .recordReferredTo }
        remove(key)
    }

    /// Whether a record refers to another one.
    ///
    /// Fields that children set, and messages, do not count.
    private func isReferredTo(_ key: ItemKey) -> Bool {
        records.all.contains { record in
            let fields = schema.collections[record.key.collection]?.fields ?? [:]
            guard record.key.inbox == nil, record.key != key else { return false }
            return fields.contains { name, field in
                guard field.target == key.collection, !isSetByChildren(name, of: record.key.collection) else {
                    return false
                }
                return record.data[name]?.text == key.id || record.data[name]?.texts?.contains(key.id) ?? false
            }
        }
    }

    private func isSetByChildren(_ field: String, of collection: String) -> Bool {
        schema.collections.values.contains { child in
            child.parent.map { $0.set == field && child.fields?[$0.field]?.target == collection } ?? false
        }
    }

    /// Removes a record, and what depends on it.
    mutating func remove(_ key: ItemKey) {
        guard let record = records[key] else { return }
        let photos = photoIDs(of: key)
        records.remove(key)
        grants.set([:], of: key)
        if let collection = schema.collections[key.collection], let rule = collection.parent,
            let parentName = collection.fields?[rule.field]?.target, let id = record.data[rule.field]?.text,
            var parent = records[ItemKey(collection: parentName, inbox: nil, id: id)],
            parent.data[rule.set]?.text == key.id
        {
            parent.data[rule.set] = .null
            grant(records.change(parent, at: now), author: nil)
        }
        removeUnusedPhotos(photos)
    }

    /// Deletes photos without a place in a list that no record has any more.
    mutating func removeUnusedPhotos(_ ids: Set<String>) {
        for id in ids where photos[id]?.isListed == false {
            let isUsed =
                records.all.contains { photoIDs(of: $0.key).contains(id) } || accounts.all.contains { $0.picture == id }
            if !isUsed { deletePhoto(id) }
        }
    }

    /// Removes what has expired.
    mutating func removeExpired() {
        for record in records.expired(at: now) { remove(record.key) }
    }

    /// Removes all records of a user, and the user's inbox.
    mutating func deleteRecords(ownedBy userID: String) {
        for record in records.all where record.ownerID == userID || record.key.inbox == userID { remove(record.key) }
    }
}
