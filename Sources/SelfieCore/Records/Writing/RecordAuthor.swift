import RecordSchema

/// A member, as the writing of records needs one.
struct MemberStream: Sendable, Equatable {
    let userID: Int
    /// The id that others see.
    let id: String
    let streamID: Int
}

/// Who writes records, and whom the call names.
struct RecordAuthor: Sendable {
    let member: MemberStream
    /// The roles that the user has, without those that are disabled.
    let roleIDs: Set<Int>
    /// The members whom the call names, by their ids: those who are there, the author included.
    let named: [String: MemberStream]
    /// Those who are named and whose accounts are disabled.
    let disabled: [String: MemberStream]
    /// Those of them who have blocked the author.
    let blocking: Set<String>
    /// The time of the transaction, as records have it.
    let now: String

    /// The streams by which the user reaches the records of a collection.
    func streams(in collection: AppliedCollection) -> Set<Int> {
        var streams: Set<Int> = [member.streamID, collection.streamID]
        let roles = ([collection.role].compactMap(\.self) + collection.managers).filter { roleIDs.contains($0.id) }
        streams.formUnion(roles.map(\.streamID))
        return streams
    }

    /// A member who may be named as a reader; nil for one who does not exist or has blocked the author.
    func reader(_ id: String) -> MemberStream? {
        blocking.contains(id) ? nil : named[id]
    }

    /// A member who reads a record now, and may have blocked the author or be disabled; nil for somebody else.
    func presentReader(_ id: String, of record: ExistingRecord) -> MemberStream? {
        guard let member = named[id] ?? disabled[id], record.grants[member.streamID]?.rights.contains(.read) == true
        else { return nil }
        return member
    }
}

/// A record that is there, locked.
struct ExistingRecord: Sendable {
    let key: Int
    let id: String
    let collectionID: Int
    /// The user in whose inbox it is; 0 for other records.
    let recipientID: Int
    let ownerID: Int
    let owner: MemberStream
    let data: String
    let version: Int
    let createdAt: String
    let updatedAt: String
    let expiresAt: String?
    let isExpired: Bool
    /// By stream.
    var grants: [Int: RecordGrant] = [:]
    /// The ids of members who have grants, by their streams.
    var memberIDs: [Int: String] = [:]

    /// What somebody may do who has some streams.
    func rights(of streams: Set<Int>) -> Rights {
        grants.reduce(into: []) { rights, grant in
            if streams.contains(grant.key) { rights.formUnion(grant.value.rights) }
        }
    }

    /// The rights of all streams that have any.
    var sharing: [Int: Rights] { grants.mapValues(\.rights).filter { !$0.value.isEmpty } }
}

/// A record that a member sent to an inbox, and that was deleted there.
struct BuriedRecord: Sendable {
    let version: Int
    let createdAt: String
    let updatedAt: String
}
