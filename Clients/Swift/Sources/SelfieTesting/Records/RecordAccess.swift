import SelfieClient

/// Who may do what with records: the rules are evaluated when a record is written, into grants.
extension ServiceState {
    /// A collection that a user may see.
    ///
    /// - Throws: `ServiceRefusal` if there is none, or no member whose inbox it could be.
    func collection(_ location: RecordLocation, seenBy userID: String) throws(ServiceRefusal)
        -> RecordSchema.Collection
    {
        guard let collection = schema.collections[location.name], location.inboxOf == nil || collection.access == .inbox
        else { throw .collectionNotFound }
        if let inboxOf = location.inboxOf, accounts[inboxOf] == nil { throw MemberCalls.notFound }
        guard lists(collection, userID) || manages(collection.role, userID) else { throw .collectionNotFound }
        return collection
    }

    /// Whether a user may list the records of a collection.
    func lists(_ collection: RecordSchema.Collection, _ userID: String) -> Bool {
        collection.access != .shared || hasRole(userID, collection.role) || hasRole(userID, collection.readers)
    }

    /// Whether a user has a role.
    ///
    /// - Returns: Whether it is so; false without a role.
    func hasRole(_ userID: String, _ role: String?) -> Bool {
        role.map { accounts[userID]?.roles.contains($0) ?? false } ?? false
    }

    /// Whether a user manages the members of a role.
    private func manages(_ role: String?, _ userID: String) -> Bool {
        guard let role, let user = accounts[userID] else { return false }
        return user.roles.contains { schema.roles[$0]?.manages.contains(role) ?? false }
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
            let (isMember, manages) = (hasRole(user.id, collection.role), manages(collection.role, user.id))
            var rights: Rights = isMember ? [.read, .write] : hasRole(user.id, collection.readers) ? .read : []
            // A former member of the role has no rights as an owner either.
            let deletes = manages || isMember && (isOwner || collection.membersDelete)
            if deletes { rights.insert(.delete) }
            return rights
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
