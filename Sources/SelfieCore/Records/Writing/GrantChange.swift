import RecordSchema

/// What becomes of a stream's grant when a record is written.
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

    /// Whether the stream could do nothing with the record before.
    var isNew: Bool { !rights.isEmpty && (old?.rights ?? []).isEmpty }

    /// How many more records that it reads the stream has: 1, 0 or -1.
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
