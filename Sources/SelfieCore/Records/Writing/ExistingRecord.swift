import RecordSchema

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
    /// The users whom this member has blocked, of those by whom the record changes now.
    var blockedIDs: Set<Int> = []
}

/// A record that is there, locked.
struct ExistingRecord: Sendable {
    let key: Int
    let name: RecordName
    let owner: MemberStream
    /// The stream of the member in whose inbox it is; nil for other records.
    let recipientStream: Int?
    /// As JSON.
    let data: String
    let byteCount: Int
    /// What it was when it was sent; nil for what nobody sent to an inbox.
    let sent: Sent?
    let version: Int
    /// Such as `2026-11-24T10:00:00.000Z`.
    let createdAt: String
    let expiresAt: Timestamp?
    let isExpired: Bool
    /// By stream.
    var grants: [Int: RecordGrant] = [:]

    /// What a member sent to the inbox of another one.
    struct Sent: Sendable {
        let byteCount: Int
        /// As ``SentDigests`` makes it; nil for what an older version has stored.
        let digest: String?
        let expiresAt: String?
    }

    var id: String { name.id }

    /// What somebody may do who has some streams.
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

/// An id that was used in somebody's inbox, whatever has become of its record there.
struct SentRecord: Sendable {
    /// Who sent it.
    let ownerID: Int
    /// As ``SentDigests`` makes it; nil for what an older version has stored.
    let digest: String?
    /// Such as `2026-11-24T10:00:00.000Z`.
    let createdAt: String
    let expiresAt: String?
}
