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

    /// What a record holds.
    struct Content: Sendable {
        let data: RecordData
        let expiry: RecordOperation.Expiry
        /// What its fields refer to, without those that are as they were.
        let newLinks: [RecordData.Link]
        /// The fields whose references stay.
        let keptFields: [String]
    }

    /// The streams that show the change.
    var numberedStreams: Set<Int> {
        let old = existing?.grants ?? [:]
        return Set(old.keys).union(sharing.keys).filter { stream in
            GrantChange.takesNumber(from: old[stream]?.rights, to: sharing[stream], isChanged: !isUnchanged)
        }
    }

    /// Whether it lets a record go that was there: now, or at its new end.
    var endsExisting: Bool {
        guard existing != nil else { return false }
        guard let content else { return true }
        if case .at = content.expiry { return true }
        return false
    }

    /// Whether the owner's record count changes.
    var changesCount: Bool { (existing == nil) != (content == nil) }
}
