import SelfieClient

/// Messages to other members' inboxes. No answer tells the sender what the recipient has done.
extension ServiceState {
    /// Sends a message.
    ///
    /// Sending the same again does nothing.
    ///
    /// - Parameters:
    ///   - key: The message in the recipient's inbox.
    ///   - content: What was sent.
    ///   - precondition: What must hold.
    ///   - userID: The sender.
    ///   - recipient: The member whose inbox it is.
    /// - Returns: The message as it was sent.
    /// - Throws: `ServiceRefusal`.
    mutating func send(
        _ key: ItemKey,
        _ content: RecordContent,
        _ precondition: RecordPrecondition,
        by userID: String,
        to recipient: String
    ) throws(ServiceRefusal) -> StoredRecord {
        guard accounts[recipient] != nil else { throw MemberCalls.notFound }
        if let sent = records.sent[key] {
            guard content.action != .create else { throw .recordIDTaken }
            guard content.action != .patch else {
                throw sent.ownerID == userID ? .recordForbidden : .recordNotFound
            }
            guard sent.ownerID == userID, sent.data == content.data else { throw .messageIDTaken }
            try precondition.check(1)
            return message(key, sent)
        }
        // An id that the recipient has used is taken as well.
        if records[key] != nil {
            switch content.action {
            case .create: throw .recordIDTaken
            case .put: throw .messageIDTaken
            case .patch: throw .recordNotFound
            }
        }
        guard content.action != .patch else { throw .recordNotFound }
        guard !hasBlocked(recipient, userID) else { throw MemberCalls.notFound }
        let record = try write(key, content, precondition, by: userID)
        let sent = SentMessage(
            ownerID: userID,
            data: record.data,
            createdAt: record.createdAt,
            expiresAt: record.expiresAt
        )
        records.sent[key] = sent
        return message(key, sent)
    }

    private func message(_ key: ItemKey, _ sent: SentMessage) -> StoredRecord {
        StoredRecord(
            key: key,
            data: sent.data,
            ownerID: sent.ownerID,
            readers: [],
            writers: [],
            version: 1,
            createdAt: sent.createdAt,
            updatedAt: sent.createdAt,
            expiresAt: sent.expiresAt,
            number: 0
        )
    }

    /// Deletes a message from the recipient's inbox, if it is still there.
    ///
    /// - Throws: `ServiceRefusal` if the user has not sent it.
    mutating func withdraw(_ key: ItemKey, _ precondition: RecordPrecondition, by userID: String) throws(ServiceRefusal)
    {
        guard records.sent[key]?.ownerID == userID else { throw .recordNotFound }
        try precondition.check(1)
        if records[key]?.ownerID == userID { remove(key) }
    }
}
