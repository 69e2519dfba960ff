import RecordSchema

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
    let createdAt: Timestamp
    let updatedAt: Timestamp
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
