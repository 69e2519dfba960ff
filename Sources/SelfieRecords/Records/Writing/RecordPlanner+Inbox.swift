import RecordSchema

/// Answers to the sender of a message that was sent before.
///
/// They show the message as it was sent, never as it is now. So they do not disclose what the recipient has done.
extension RecordPlanner {
    /// The version that a message had when it was sent.
    private static let sentVersion = 1

    /// Whether nothing new can be sent, since the recipient has blocked the author or is disabled.
    ///
    /// Messages from before get the same answers as before, and can be deleted: a block is not disclosed.
    func isUnreachable(for operations: [PreparedOperation]) -> Bool {
        guard snapshot.isSender, let recipient, author.reader(recipient.id) == nil else { return false }
        return operations.contains { $0.content != nil && sentRecord($0.id) == nil }
    }

    /// The message with an id; nil for an id that was never used in the inbox.
    ///
    /// The author's own comes first, even if the recipient has used its id again.
    func sentRecord(_ id: String) -> SentRecord? {
        let present = existing(id).map { record in
            SentRecord(
                ownerID: record.owner.userID,
                digest: record.sent?.digest,
                createdAt: record.createdAt.text,
                expiresAt: record.sent?.expiresAt
            )
        }
        let both = [present, snapshot.deletedMessages[id]].compactMap(\.self)
        return both.first { $0.ownerID == author.member.userID } ?? both.first
    }

    /// Decides on an operation of a sender with an id that was used before.
    func outcome(of operation: PreparedOperation, sentBefore sent: SentRecord) throws(RecordRefusal) -> Outcome {
        let isOwn = sent.ownerID == author.member.userID
        switch operation.action {
        case .create: throw RecordRefusal(.taken)
        case .patch: throw RecordRefusal(isOwn ? .forbidden : .noRecord)
        case .put:
            // The same message, sent again: it changes nothing.
            guard isOwn, let digest = operation.sentDigest, digest == sent.digest else {
                throw RecordRefusal(.messageIDTaken)
            }
            try Self.check(operation.condition, version: Self.sentVersion)
            return .sentBefore(
                StoredRecord(
                    id: operation.id,
                    collection: collection.name,
                    data: operation.data ?? "{}",
                    owner: author.member.id,
                    readers: nil,
                    writers: nil,
                    version: Self.sentVersion,
                    createdAt: sent.createdAt,
                    updatedAt: sent.createdAt,
                    expiresAt: sent.expiresAt,
                    photos: []
                )
            )
        case .delete:
            guard isOwn else { throw RecordRefusal(.noRecord) }
            try Self.check(operation.condition, version: Self.sentVersion)
            guard let record = existing(operation.id), record.owner.userID == sent.ownerID else {
                return .deletedBefore
            }
            return .draft(deletion(of: record, at: operation.position))
        }
    }
}
