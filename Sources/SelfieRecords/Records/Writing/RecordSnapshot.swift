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

/// The name of a record.
struct RecordName: Hashable, Sendable {
    let collectionID: Int
    /// The user in whose inbox it is; nil for other records.
    var recipientID: Int?
    let id: String
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
