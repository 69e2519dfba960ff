import SelfieClient

/// Who may do what with records: the rules are evaluated when a record is written, into grants.
extension ServiceState {
    /// A collection that a user may see.
    ///
    /// - Throws: `ServiceRefusal` if there is none.
    func collection(_ name: String, seenBy userID: String) throws(ServiceRefusal) -> RecordSchema.Collection {
        guard let collection = schema.collections[name] else { throw .collectionNotFound }
        guard collection.access == .shared else { return collection }
        let roles = accounts[userID]?.roles ?? []
        guard [collection.role, collection.readers].contains(where: { $0.map(roles.contains) ?? false }) else {
            throw .collectionNotFound
        }
        return collection
    }

    /// Whether a user may create records of a collection.
    func mayCreate(in collection: RecordSchema.Collection, _ userID: String) -> Bool {
        collection.access != .shared
            || collection.role.map { accounts[userID]?.roles.contains($0) ?? false } ?? false
    }

    /// The rights of a user to a record.
    private func rights(of user: User, to record: StoredRecord) -> Rights {
        guard let collection = schema.collections[record.key.collection] else { return [] }
        let isOwner = user.id == record.ownerID
        switch collection.access {
        case .private: return isOwner ? [.read, .write, .delete] : []
        case .acl:
            if isOwner { return .all }
            if record.writers.contains(user.id) { return [.read, .write] }
            return record.readers.contains(user.id) ? .read : []
        case .inbox: return user.id == record.key.inbox ? [.read, .write, .delete] : []
        case .published: return isOwner ? [.read, .write, .delete] : .read
        case .shared:
            guard let role = collection.role, user.roles.contains(role) else {
                return collection.readers.map(user.roles.contains) ?? false ? .read : []
            }
            let manages = user.roles.contains { schema.roles[$0]?.manages.contains(role) ?? false }
            return isOwner || manages || collection.membersDelete ? [.read, .write, .delete] : [.read, .write]
        }
    }

    /// Gives all users their rights to a record that has changed, and tells those who may read it.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - author: Who has changed it. Readers who have blocked the author are not told of changes in `acl` collections.
    ///   - isTold: Who else is left out.
    mutating func grant(_ record: StoredRecord, author: String?, isTold: (String) -> Bool = { _ in true }) {
        let pairs = accounts.all.map { ($0.id, rights(of: $0, to: record)) }.filter { !$0.1.isEmpty }
        let hidesBlocked = schema.collections[record.key.collection]?.access == .acl
        let deaf = Set(
            pairs.map(\.0).filter { reader in
                hidesBlocked && reader != author && author.map { hasBlocked(reader, $0) } ?? false
            }
        )
        grants.set(Dictionary(uniqueKeysWithValues: pairs), of: record.key) { isTold($0) && !deaf.contains($0) }
    }

    /// Gives a user who has other roles now the rights to records that were there before.
    mutating func updateGrants(of userID: String) {
        guard let user = accounts[userID] else { return }
        for record in records.all {
            grants.set(rights(of: user, to: record), of: userID, to: record.key)
        }
    }
}
