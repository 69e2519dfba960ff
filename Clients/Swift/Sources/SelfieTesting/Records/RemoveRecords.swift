import Foundation
import SelfieClient

/// Removes records.
extension ServiceState {
    /// Removes records, and what depends on them.
    ///
    /// Fields that they have set in their parents become `null`.
    ///
    /// - Parameters:
    ///   - keys: The records.
    ///   - author: Who removes them; nil if their owners count as the authors.
    mutating func remove(_ keys: [ItemKey], author: String? = nil) {
        for key in keys {
            guard let record = records[key] else { continue }
            let photos = photoIDs(of: key)
            records.remove(key)
            grants.set([:], of: key)
            removeUnusedPhotos(photos)
            guard let collection = schema.collections[key.collection], let rule = collection.parent,
                let parents = collection.fields?[rule.field]?.target
            else { continue }
            for parent in records.all
            where parent.key.collection == parents && parent.data[rule.set]?.text == key.id
                && !keys.contains(parent.key)
            {
                set(rule.set, to: .null, of: parent.key, author: author ?? record.ownerID)
            }
        }
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
        remove(records.expired(at: now).map(\.key))
    }

    /// Removes all records of a user, and the user's inbox.
    mutating func deleteRecords(ownedBy userID: String) {
        remove(records.all.filter { $0.ownerID == userID || $0.key.inbox == userID }.map(\.key))
    }
}
