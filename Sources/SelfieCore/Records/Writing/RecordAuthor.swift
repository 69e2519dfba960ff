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

    /// Whether a member is among those whom the call names.
    func knows(_ id: String) -> Bool { named[id] != nil || disabled[id] != nil }

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
    let byteCount: Int
    /// What it was when it was sent; nil for what nobody sent to an inbox.
    let sent: Sent?
    let version: Int
    let createdAt: String
    let updatedAt: String
    let expiresAt: String?
    let isExpired: Bool
    /// By stream.
    var grants: [Int: RecordGrant] = [:]
    /// The ids of members who have grants, by their streams.
    var memberIDs: [Int: String] = [:]
    /// The users whom the members of streams have blocked, of those by whom it changes now.
    var blocking: [Int: Set<Int>] = [:]

    /// What a member sent to the inbox of another one.
    struct Sent: Sendable {
        let byteCount: Int
        /// As ``SentDigests`` makes it; nil for what an older version has stored.
        let digest: String?
        let expiresAt: String?
    }

    /// What somebody may do who has some streams.
    func rights(of streams: Set<Int>) -> Rights {
        grants.reduce(into: []) { rights, grant in
            if streams.contains(grant.key) { rights.formUnion(grant.value.rights) }
        }
    }

    /// The record's name in the database.
    var name: RecordTransaction.Name {
        RecordTransaction.Name(collectionID: collectionID, recipientID: recipientID, id: id)
    }

    /// The ids of the members who read it by a grant of their own.
    var readers: [String] {
        grants.filter { $0.value.rights.contains(.read) }.compactMap { memberIDs[$0.key] }
    }

    /// The rights of all streams that have any.
    var sharing: [Int: Rights] { grants.mapValues(\.rights).filter { !$0.value.isEmpty } }
}

/// An id that was used in somebody's inbox, whatever has become of its record there.
struct SentRecord: Sendable {
    /// Who sent it.
    let ownerID: Int
    /// As ``SentDigests`` makes it; nil for what an older version has stored.
    let digest: String?
    let createdAt: String
    let expiresAt: String?
}
