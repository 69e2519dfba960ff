import Encodings
import OrderedCollections
import RecordSchema

extension RecordPlanner {
    /// The draft of a record that changes.
    func change(
        of record: ExistingRecord,
        by operation: RecordOperation,
        _ rights: Rights,
        at position: Int
    ) throws(RecordRefusal) -> RecordDraft {
        try Self.require(.write, among: rights, operation.condition, of: record)
        let expiry = operation.expiry.change(of: record)
        // Who sets an end deletes the record, only later.
        guard expiry == .unchanged || rights.contains(.delete) else { throw RecordRefusal(.forbidden) }
        var (sharing, memberIDs) = (record.sharing, record.memberIDs)
        if !operation.named.isEmpty || operation.readers != nil || operation.writers != nil {
            guard collection.definition.access == .acl else { throw RecordRefusal(.notShared) }
            guard rights.contains(.share) else { throw RecordRefusal(.forbidden) }
            let named = try namedMembers(operation, changing: record)
            for member in named.readers + named.writers { memberIDs[member.streamID] = member.id }
            sharing = Self.shared(
                sharing,
                owner: record.owner.streamID,
                readers: operation.readers == nil ? nil : named.readers.map(\.streamID),
                writers: operation.writers == nil ? nil : named.writers.map(\.streamID)
            )
            guard sharing.count <= RecordLimits.maxReaderCount + 1 else { throw RecordRefusal(.tooManyReaders) }
        }
        let old = Self.stored(record.data)
        return RecordDraft(
            position: position,
            collection: collection,
            existing: record,
            id: record.id,
            content: try content(operation, changing: old, expiry: expiry, in: collection),
            sharing: sharing,
            memberIDs: memberIDs
        )
    }

    /// The draft of a record that its reader wants to see no more.
    ///
    /// It has a new version, since those who share it get its readers. They hear of it, and nobody else.
    func leaving(
        _ record: ExistingRecord,
        by operation: RecordOperation,
        at position: Int
    ) throws(RecordRefusal) -> RecordDraft {
        try Self.check(operation.condition, version: record.version)
        var sharing = record.sharing
        sharing[author.member.streamID] = nil
        let value = Self.stored(record.data)
        let data = RecordData(stored: record.data, value, in: collection.definition)
        return RecordDraft(
            position: position,
            collection: collection,
            existing: record,
            id: record.id,
            content: RecordDraft.Content(data, value, changing: value, expiry: .unchanged),
            sharing: sharing,
            memberIDs: record.memberIDs,
            informedStreams: Set(sharing.filter { $0.value.contains(.share) }.keys)
        )
    }

    /// The rights of all streams after others were named.
    ///
    /// Who is named nowhere any more has none. What is not named again stays.
    static func shared(
        _ old: [Int: Rights],
        owner: Int,
        readers: [Int]?,
        writers: [Int]?
    ) -> [Int: Rights] {
        let others = old.filter { $0.key != owner }
        let readers = readers ?? others.filter { $0.value.contains(.read) }.map(\.key)
        let writers = writers ?? others.filter { $0.value.contains(.write) }.map(\.key)
        let table = Access.acl.rights
        var rights: [Int: Rights] = [:]
        for stream in readers { rights[stream, default: []].formUnion(table[.reader] ?? []) }
        for stream in writers { rights[stream, default: []].formUnion(table[.writer] ?? []) }
        rights[owner] = old[owner]
        return rights
    }

    private func content(
        _ operation: RecordOperation,
        changing old: JSONValue,
        expiry: RecordOperation.Expiry,
        in collection: AppliedCollection
    ) throws(RecordRefusal) -> RecordDraft.Content {
        let value: JSONValue =
            switch (operation.action, operation.data) {
            case (_, nil): old
            case (.patch, let patch?): keepingSetFields(old.merged(with: Self.object(patch)), of: old)
            case (_, let data?): keepingSetFields(Self.object(data), of: old)
            }
        return RecordDraft.Content(try Self.checked(value, in: collection), value, changing: old, expiry: expiry)
    }
}

extension RecordDraft.Content {
    /// The content of a record after a change.
    ///
    /// A field that is as it was keeps its reference, even if its target may be named no more.
    init(_ data: RecordData, _ value: JSONValue, changing old: JSONValue, expiry: RecordOperation.Expiry) {
        guard case .object(let members) = value, case .object(let oldMembers) = old else {
            self.init(data: data, expiry: expiry, newLinks: data.links, keptFields: [])
            return
        }
        let isKept: (RecordData.Link) -> Bool = { members[$0.field] == oldMembers[$0.field] }
        self.init(
            data: data,
            expiry: expiry,
            newLinks: data.links.filter { !isKept($0) },
            keptFields: data.links.filter(isKept).map(\.field)
        )
    }
}

extension RecordOperation.Expiry {
    /// What it changes: a record that is sent back as it was read keeps its end.
    fileprivate func change(of record: ExistingRecord) -> RecordOperation.Expiry {
        switch self {
        case .unchanged: .unchanged
        case .never: record.expiresAt == nil ? .unchanged : .never
        case .at(let time): record.expiresAt == time.text ? .unchanged : .at(time)
        }
    }
}
