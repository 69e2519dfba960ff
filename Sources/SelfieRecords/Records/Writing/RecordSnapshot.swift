import RecordSchema

/// The data that a call is decided from, read and locked by its transaction.
struct RecordSnapshot {
    let author: RecordAuthor
    /// The member in whose inbox the records are; nil for other collections.
    let recipient: MemberStream?
    /// The existing records that the call names, and their parents.
    let records: [RecordName: ExistingRecord]
    /// The ids of the call that were used in the inbox before, and whose records were deleted.
    var deletedMessages: [String: SentRecord] = [:]

    /// Whether the author has sent the records, or sends them, to another member's inbox.
    var isSender: Bool { recipient.map { $0.userID != author.member.userID } ?? false }

    /// The keys of expired records.
    var expiredKeys: [Int] { records.values.filter(\.isExpired).map(\.key) }

    /// The name of a record of the collection; for an inbox, in that of the recipient.
    func name(_ id: String, in collection: AppliedCollection) -> RecordName {
        RecordName(collectionID: collection.id, recipientID: recipient?.userID, id: id)
    }
}

/// A member with its stream.
struct MemberStream: Sendable, Equatable {
    let userID: Int
    /// The id that others see.
    let id: String
    let streamID: Int
}

/// The author of a call, and the members that it names.
struct RecordAuthor: Sendable {
    let member: MemberStream
    /// The roles that the user has, without those that are disabled.
    let roleIDs: Set<Int>
    /// The existing members that the call names, by their ids, and the author.
    let named: [String: Named]
    /// The ids of these members, by their streams.
    let memberIDs: [Int: String]
    /// The time of the transaction.
    let now: Timestamp

    init(member: MemberStream, roleIDs: Set<Int>, naming named: [Named], now: Timestamp) {
        self.member = member
        self.roleIDs = roleIDs
        self.named = Dictionary(uniqueKeysWithValues: named.map { ($0.member.id, $0) })
        memberIDs = Dictionary(uniqueKeysWithValues: named.map { ($0.member.streamID, $0.member.id) })
        self.now = now
    }

    /// A member that the call names.
    struct Named: Sendable {
        let member: MemberStream
        var isDisabled = false
        /// Whether this member has blocked the author.
        var isBlocking = false
    }

    /// The streams by which the user reaches the records of a collection.
    func streams(in collection: AppliedCollection) -> Set<Int> {
        Set(roles(in: collection).map(\.streamID)).union([member.streamID, collection.streamID])
    }

    /// Requires that a collection exists for the user.
    ///
    /// A collection of a role does not exist for others. That includes former members of the role who own records in
    /// it.
    func requireRole(in collection: AppliedCollection) throws(RecordRefusal) {
        guard collection.definition.access == .shared else { return }
        if roles(in: collection).isEmpty { throw RecordRefusal(.noCollection) }
    }

    /// The roles that the user has, of those that have rights in a collection.
    private func roles(in collection: AppliedCollection) -> [AppliedRole] {
        ([collection.role].compactMap(\.self) + collection.managers).filter { roleIDs.contains($0.id) }
    }

    /// A member who may be named as a reader; nil for one who does not exist, is disabled or has blocked the author.
    func reader(_ id: String) -> MemberStream? {
        named[id].flatMap { $0.isDisabled || $0.isBlocking ? nil : $0.member }
    }

    /// A present reader of a record, who may have blocked the author or be disabled; nil for other members.
    func presentReader(_ id: String, of record: ExistingRecord) -> MemberStream? {
        named[id].flatMap { named in
            record.grants[named.member.streamID]?.rights.contains(.read) == true ? named.member : nil
        }
    }
}

/// The name of a record.
struct RecordName: Hashable, Sendable {
    let collectionID: Int
    /// The user in whose inbox it is; nil for other records.
    var recipientID: Int?
    let id: String
}

/// What a stream may do with a record, as the database has it.
struct RecordGrant: Sendable, Equatable {
    let rights: Rights
    /// The number of the last change that the stream showed; nil if it never showed the record.
    var number: Int?
    /// The number of the change since which the stream shows the record; nil if it does not.
    var shownNumber: Int?
    /// The id of the stream's member; nil for the stream of a role or a collection.
    var memberID: String?
    /// The users that this member has blocked, of those who change the record now.
    var blockedIDs: Set<Int> = []
}

/// An existing record, locked.
struct ExistingRecord: Sendable {
    let key: Int
    let name: RecordName
    let owner: MemberStream
    /// The stream of the member in whose inbox it is; nil for other records.
    let recipientStream: Int?
    /// As JSON.
    let data: String
    let byteCount: Int
    /// What it was when it was sent; nil for a record that was not sent to an inbox.
    let sent: Sent?
    let version: Int
    /// Such as `2026-11-24T10:00:00.000Z`.
    let createdAt: String
    let expiresAt: Timestamp?
    let isExpired: Bool
    /// By stream.
    var grants: [Int: RecordGrant] = [:]

    /// A message that a member sent to another one's inbox.
    struct Sent: Sendable {
        let byteCount: Int
        /// As ``SentDigests`` makes it; nil for what an older version has stored.
        let digest: String?
        let expiresAt: String?
    }

    var id: String { name.id }

    /// The rights of a user with these streams.
    func rights(of streams: Set<Int>) -> Rights {
        grants.reduce(into: []) { rights, grant in
            if streams.contains(grant.key) { rights.formUnion(grant.value.rights) }
        }
    }

    /// The ids of the members who read it by a grant of their own.
    var readers: [String] {
        grants.values.filter { $0.rights.contains(.read) }.compactMap(\.memberID)
    }

    /// The rights of all streams that have any.
    var sharing: [Int: Rights] { grants.mapValues(\.rights).filter { !$0.value.isEmpty } }
}

/// An id that was used in a member's inbox, even if its record was changed or deleted.
struct SentRecord: Sendable {
    /// Who sent it.
    let ownerID: Int
    /// As ``SentDigests`` makes it; nil for what an older version has stored.
    let digest: String?
    /// Such as `2026-11-24T10:00:00.000Z`.
    let createdAt: String
    let expiresAt: String?
}
