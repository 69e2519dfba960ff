import Encodings
import RecordSchema

/// What a sender hears of messages that were sent before.
///
/// Answers come from what was sent, never from what is there now. So they tell nothing of what the recipient has done.
extension RecordPlanner {
    /// The version that a message had when it was sent.
    private static let sentVersion = 1

    /// What was sent with an id; nil for one that was never used in the inbox.
    ///
    /// The author's own comes first, even if the recipient has used its id again.
    func sentRecord(_ id: String) -> SentRecord? {
        let present = existing[id].map { record in
            SentRecord(
                ownerID: record.ownerID,
                digest: record.sent?.digest,
                createdAt: record.createdAt,
                expiresAt: record.sent?.expiresAt
            )
        }
        let both = [present, deletedMessages[id]].compactMap(\.self)
        return both.first { $0.ownerID == author.member.userID } ?? both.first
    }

    /// Decides on an operation of a sender with an id that was used before.
    func outcome(
        of operation: RecordOperation,
        sentBefore sent: SentRecord,
        at position: Int
    ) throws(RecordRefusal) -> Outcome {
        let isOwn = sent.ownerID == author.member.userID
        switch operation.action {
        case .create: throw RecordRefusal(.taken)
        case .put: return .sentBefore(try repeated(operation, of: sent, isOwn: isOwn))
        case .patch: throw RecordRefusal(isOwn ? .forbidden : .noRecord)
        case .delete:
            guard isOwn else { throw RecordRefusal(.noRecord) }
            try Self.check(operation.condition, version: Self.sentVersion)
            guard let id = operation.id, let record = existing[id], record.ownerID == sent.ownerID else {
                return .deletedBefore
            }
            return .draft(Self.deletion(of: record, in: collection, at: position))
        }
    }

    /// The same message, sent again: the second time changes nothing.
    private func repeated(
        _ operation: RecordOperation,
        of sent: SentRecord,
        isOwn: Bool
    ) throws(RecordRefusal) -> StoredRecord {
        let data = Self.object(operation.data ?? "{}")
        guard isOwn, let recipient, let id = operation.id,
            digests.digest(of: data, id: id, to: recipient.id) == sent.digest
        else { throw RecordRefusal(.messageIDTaken) }
        try Self.check(operation.condition, version: Self.sentVersion)
        return StoredRecord(
            id: id,
            collection: collection.name,
            data: data.text,
            owner: author.member.id,
            readers: nil,
            writers: nil,
            version: Self.sentVersion,
            createdAt: sent.createdAt,
            updatedAt: sent.createdAt,
            expiresAt: sent.expiresAt,
            photos: []
        )
    }
}
