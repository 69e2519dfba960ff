import RecordSchema

/// A record as it is to be after the call.
struct RecordDraft: Sendable {
    /// The position of its operation; nil for a parent, which the call does not name.
    let position: Int?
    let collection: AppliedCollection
    /// The record until now; nil for a new one.
    let existing: ExistingRecord?
    let id: String
    /// Nil for one that is deleted.
    let content: Content?
    /// The rights of each stream from now on.
    let sharing: [Int: Rights]
    /// The ids of members who are named, by their streams.
    let memberIDs: [Int: String]
    /// Whether the record itself is as it was, and only its collection's rules have changed.
    var isUnchanged = false
    /// The streams that show a change which is nobody else's matter; nil for all that show the record.
    var informedStreams: Set<Int>?
    /// The users by whose doing it changes; empty for the service's own.
    var authorIDs: Set<Int> = []

    /// What a record holds.
    struct Content: Sendable {
        let data: RecordData
        let expiry: RecordOperation.Expiry
        /// What its fields refer to, without those that are as they were.
        let newLinks: [RecordData.Link]
        /// The fields whose references stay.
        let keptFields: [String]
        /// As ``SentDigests`` makes it; nil for what is not sent to somebody else's inbox.
        var sentDigest: String?
    }

    /// The streams that show the change.
    var numberedStreams: Set<Int> {
        let old = existing?.grants ?? [:]
        return Set(old.keys).union(sharing.keys).filter { stream in
            GrantChange.takesNumber(from: old[stream]?.rights, to: sharing[stream], isChanged: isChanged(for: stream))
        }
    }

    /// Whether a stream that shows the record before and afterwards shows the change.
    ///
    /// Those who have blocked all of its authors hear nothing of it.
    func isChanged(for stream: Int) -> Bool {
        if isUnchanged { return false }
        if let informedStreams, !informedStreams.contains(stream) { return false }
        return authorIDs.isEmpty || !authorIDs.isSubset(of: existing?.blocking[stream] ?? [])
    }

    /// Whether it is a new message to somebody else's inbox.
    var isSentNow: Bool { content?.sentDigest != nil }

    /// The bytes that come for its owner; negative when they go.
    ///
    /// Those of a message stay until it is forgotten. Otherwise its sender would notice when the recipient deletes it.
    var ownerBytes: Int {
        switch (existing, content) {
        case (nil, let content?): content.data.text.utf8.count
        case (let existing?, nil): existing.sent == nil ? -existing.byteCount : 0
        case (let existing?, let content?):
            existing.sent != nil || isUnchanged ? 0 : content.data.text.utf8.count - existing.byteCount
        case (nil, nil): 0
        }
    }

    /// The bytes that come for the member in whose inbox it is: what that member has added.
    var recipientBytes: Int {
        guard let existing, let sent = existing.sent, !isUnchanged else { return 0 }
        return (content?.data.text.utf8.count ?? sent.byteCount) - existing.byteCount
    }

    /// Whether it lets a record go that was there: now, or at its new end.
    var endsExisting: Bool {
        guard existing != nil else { return false }
        guard let content else { return true }
        if case .at = content.expiry { return true }
        return false
    }

    /// Whether the record comes or goes.
    var changesCount: Bool { (existing == nil) != (content == nil) }
}
