import RecordSchema

/// The decision on a record, without the numbers, which come from the locked streams.
struct RecordDraft: Sendable {
    /// The position of its operation; nil for a record that no operation names.
    let position: Int?
    let collection: AppliedCollection
    let name: RecordName
    /// The record until now; nil for a new one.
    var existing: ExistingRecord?
    let owner: MemberStream
    /// The stream of the member in whose inbox it is; nil for other records.
    let recipientStream: Int?
    /// Nil for one that is deleted.
    let content: Content?
    /// The change of each stream's grant.
    let grants: [GrantChange]
    /// Whether the record itself is as it was, and only its collection's rules have changed.
    var isReview = false

    /// The contents of a record.
    struct Content: Sendable {
        let data: RecordData
        let expiresAt: Timestamp?
        /// The targets of its changed reference fields.
        let newLinks: [RecordData.Link]
        /// As ``SentDigests`` makes it; nil for a record that is not sent to another member's inbox.
        var sentDigest: String?
        /// When an imported record was created and changed elsewhere; nil for the present.
        var importedCreation: Timestamp?
        var importedUpdate: Timestamp?
    }

    /// What others name when they refer to it.
    var target: RecordData.Target { .record(id: name.id, collection: collection.name) }

    /// The streams that are shown the change, each under its next number.
    var shownStreams: Set<Int> { Set(grants.filter(\.isShown).map(\.stream)) }

    /// How many members are newly named as readers, beside the owner.
    var namedCount: Int {
        guard collection.definition.access == .acl, position != nil else { return 0 }
        return grants.count { $0.isNew && $0.stream != owner.streamID }
    }

    /// What becomes of the record.
    var effect: ChangeKind { content == nil ? .deleted : existing == nil ? .created : .updated }

    /// Whether it deletes an existing record: now, or by a new expiry.
    var endsExisting: Bool {
        guard let existing else { return false }
        return content.map { $0.expiresAt != nil && $0.expiresAt != existing.expiresAt } ?? true
    }

    /// What it adds to the counters of the recipient's and the owner's stream.
    var charges: [StreamTable.Row] {
        if isReview { return [] }
        var owned = StreamTable.Row(id: owner.streamID)
        var received = recipientStream.map { StreamTable.Row(id: $0) }
        let byteCount = content?.data.text.utf8.count
        if let existing {
            if byteCount == nil { received?.inboxCount = -1 }
            if let sent = existing.sent {
                // What a recipient adds to a message counts for the recipient. The message counts for the sender until
                // its tombstone is removed: otherwise the sender would notice its deletion.
                received?.byteCount = (byteCount ?? sent.byteCount) - existing.byteCount
            } else {
                owned.byteCount = (byteCount ?? 0) - existing.byteCount
            }
        } else {
            received?.inboxCount = 1
            owned.recordCount = 1
            owned.byteCount = byteCount ?? 0
        }
        return [received, owned].compactMap(\.self).filter { $0 != StreamTable.Row(id: $0.id) }
    }

    /// The record as its author gets it; nil for one that is deleted.
    func stored(for author: RecordAuthor, version: Int, photos: [StoredRecord.PhotoField]) -> StoredRecord? {
        guard let content else { return nil }
        let mayShare = grants.contains { $0.stream == author.member.streamID && $0.rights.contains(.share) }
        func members(with right: Rights) -> [String]? {
            guard mayShare else { return nil }
            return grants.filter { $0.stream != owner.streamID && $0.rights.contains(right) }
                .compactMap(\.memberID).sorted()
        }
        return StoredRecord(
            id: name.id,
            collection: collection.name,
            data: content.data.text,
            owner: owner.id,
            readers: members(with: .read),
            writers: members(with: .write),
            version: version,
            createdAt: (existing?.createdAt ?? author.now).text,
            updatedAt: author.now.text,
            expiresAt: content.expiresAt?.text,
            photos: photos
        )
    }
}

extension RecordDraft {
    /// The draft of an existing record.
    ///
    /// Without content it is deleted. Without rights, its grants stay.
    ///
    /// A change is not shown to members who have blocked all of its authors. Where only some streams are informed, it is not
    /// shown to others that read the record before and afterwards.
    init(
        of record: ExistingRecord,
        in collection: AppliedCollection,
        at position: Int? = nil,
        _ content: Content?,
        sharing: [Int: Rights]? = nil,
        memberIDs: [Int: String] = [:],
        by authorIDs: Set<Int> = [],
        informing informed: Set<Int>? = nil,
        isReview: Bool = false
    ) {
        let sharing = content == nil ? [:] : sharing ?? record.sharing
        self.init(
            position: position,
            collection: collection,
            name: record.name,
            existing: record,
            owner: record.owner,
            recipientStream: record.recipientStream,
            content: content,
            grants: Set(record.grants.keys).union(sharing.keys).sorted().map { stream in
                let old = record.grants[stream]
                let isBlocked = !authorIDs.isEmpty && authorIDs.isSubset(of: old?.blockedIDs ?? [])
                return GrantChange(
                    stream: stream,
                    memberID: old?.memberID ?? memberIDs[stream],
                    from: old,
                    to: sharing[stream] ?? [],
                    isChange: !isReview && !isBlocked && informed?.contains(stream) ?? true
                )
            },
            isReview: isReview
        )
    }
}

extension RecordDraft.Content {
    /// The contents of a record after a change.
    ///
    /// An unchanged field keeps its reference, even if its author may no longer refer to the target.
    init(_ data: RecordData, changing old: RecordData, expiresAt: Timestamp?) {
        let present = Set(old.links)
        self.init(data: data, expiresAt: expiresAt, newLinks: data.links.filter { !present.contains($0) })
    }

    /// The present contents of a record.
    init(of record: ExistingRecord, in collection: AppliedCollection) {
        let data = RecordData(stored: record.data, in: collection.definition)
        self.init(data: data, expiresAt: record.expiresAt, newLinks: [])
    }
}

/// The change of a stream's grant when a record is written.
struct GrantChange: Sendable, Equatable {
    let stream: Int
    /// The id of the stream's member; nil for the stream of a role or a collection.
    let memberID: String?
    /// The grant until now; nil for none.
    let old: RecordGrant?
    /// The rights from now on.
    let rights: Rights
    /// Whether the stream is shown the change, under its next number.
    let isShown: Bool

    init(stream: Int, memberID: String?, from old: RecordGrant?, to rights: Rights, isChange: Bool) {
        self.stream = stream
        self.memberID = memberID
        self.old = old
        self.rights = rights
        let (reads, hasRead) = (rights.contains(.read), old?.rights.contains(.read) ?? false)
        isShown = isChange ? reads || hasRead : reads != hasRead
    }

    /// Whether the stream had no rights to the record before.
    var isNew: Bool { !rights.isEmpty && (old?.rights ?? []).isEmpty }

    /// The change of the number of records that the stream can read: 1, 0 or -1.
    var readCount: Int {
        (rights.contains(.read) ? 1 : 0) - (old?.rights.contains(.read) == true ? 1 : 0)
    }

    /// The grant's row, with the stream's next number if it is shown the change; nil when nothing changes.
    func row(key: Int, in collectionID: Int, next: Int?) -> GrantTable.Row? {
        if next == nil, rights == old?.rights ?? [] { return nil }
        return GrantTable.Row(
            collectionID: collectionID,
            key: key,
            stream: stream,
            rights: rights,
            number: next ?? old?.number,
            shownNumber: rights.contains(.read) ? (readCount == 0 ? old?.shownNumber : next) : nil
        )
    }
}
