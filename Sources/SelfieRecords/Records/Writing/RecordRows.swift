import Postgres
import RecordSchema

/// The rows of drafts, with numbers from their streams, within the limits of their users.
struct RecordRows {
    /// The streams that are locked, by their ids.
    private(set) var streams: [Int: StreamTable.Row]
    /// The time of the transaction.
    private let now: Timestamp
    /// The bytes of data that a user's records may have.
    private let quotaBytes: Int
    private(set) var added: [RecordTable.Row] = []
    private(set) var changed: [RecordTable.Row] = []
    /// The keys of records that are deleted.
    private(set) var deleted: [Int] = []
    /// The keys of records that are unchanged, under new rules.
    private(set) var reviewed: [Int] = []
    private(set) var grants: [GrantTable.Row] = []
    private(set) var removedGrants: [GrantTable.Row] = []
    /// How many more records of an author a member's stream shows.
    private(set) var authors: [StreamTable.AuthoredStream: StreamTable.AuthorCounts] = [:]
    /// The last operations that add one.
    private var lastAddition: [StreamTable.AuthoredStream: Int] = [:]
    private(set) var indexed: [RecordTable.Indexed] = []
    private(set) var linked: [(key: Int, field: String, element: String)] = []
    private(set) var recordReferences: [RecordTable.Reference] = []
    private(set) var photoReferences: [RecordTable.Reference] = []

    /// The rows that references refer to.
    struct Targets {
        /// The keys of records.
        var records: [RecordData.Target: Int] = [:]
        /// Photos, and their owners.
        var photos: [RecordData.Target: (row: Int, userID: Int)] = [:]
        /// Existing members.
        var members: Set<RecordData.Target> = []

        func has(_ target: RecordData.Target) -> Bool {
            records[target] != nil || photos[target] != nil || members.contains(target)
        }
    }

    init(streams: [StreamTable.Row], now: Timestamp, quotaBytes: Int) {
        self.now = now
        self.streams = Dictionary(uniqueKeysWithValues: streams.map { ($0.id, $0) })
        self.quotaBytes = quotaBytes
    }

    /// Adds the rows of a draft, whose references are set by an author or else by its owner.
    ///
    /// - Throws: `RecordRefusal` when there is no room.
    mutating func add(_ draft: RecordDraft, key: Int, authorID: Int?, targets: Targets) throws(RecordRefusal) {
        for charge in draft.charges { try count(charge, of: draft.position) }
        for change in draft.grants { add(change, of: draft, key: key) }
        guard let content = draft.content else {
            deleted.append(key)
            return
        }
        let row = RecordTable.Row(
            key: key,
            name: draft.name,
            ownerID: draft.owner.userID,
            data: content.data.text,
            createdAt: content.importedCreation,
            updatedAt: content.importedUpdate,
            expiresAt: content.expiresAt,
            sentDigest: content.sentDigest
        )
        if draft.existing == nil {
            added.append(row)
        } else if draft.isReview {
            reviewed.append(key)
        } else {
            changed.append(row)
        }
        addLinks(of: content, key: key, ownerID: authorID ?? draft.owner.userID, targets)
    }

    /// Counts what an operation's draft adds to a stream.
    private mutating func count(_ charge: StreamTable.Row, of position: Int?) throws(RecordRefusal) {
        guard var row = streams[charge.id] else { return }
        row.recordCount += charge.recordCount
        row.inboxCount += charge.inboxCount
        row.byteCount += charge.byteCount
        streams[charge.id] = row
        // Changes of other records, such as parents, do not count against the call's limits.
        guard position != nil else { return }
        if charge.inboxCount > 0, row.inboxCount > RecordLimits.maxInboxCount {
            throw RecordRefusal(.inboxFull, at: position)
        }
        if charge.recordCount > 0, row.recordCount > RecordLimits.maxCountPerUser {
            throw RecordRefusal(.noRoom, at: position)
        }
        if charge.byteCount > 0, row.byteCount > quotaBytes {
            throw RecordRefusal(.noBytes(max: quotaBytes), at: position)
        }
    }

    private mutating func add(_ change: GrantChange, of draft: RecordDraft, key: Int) {
        var next: Int?
        if change.isShown {
            // The stream of a deleted account was deleted with it.
            guard streams[change.stream] != nil else { return }
            streams[change.stream]?.number += 1
            next = streams[change.stream]?.number
        }
        if change.memberID != nil, change.stream != draft.owner.streamID, change.readCount != 0 {
            let pair = StreamTable.AuthoredStream(stream: change.stream, authorID: draft.owner.userID)
            authors[pair, default: .init()].recordCount += change.readCount
            if draft.recipientStream != nil { authors[pair]?.inboxCount += change.readCount }
            if change.readCount > 0 { lastAddition[pair] = draft.position }
        }
        if let row = change.row(key: key, in: draft.collection.id, next: next) {
            if row.isUseless { removedGrants.append(row) } else { grants.append(row) }
        }
        if change.rights.contains(.read) {
            indexed += indexedFields(of: draft).map { indexed in
                RecordTable.Indexed(
                    stream: change.stream,
                    collectionID: draft.collection.id,
                    field: indexed.field,
                    value: indexed.value,
                    key: key
                )
            }
        }
    }

    /// The index values of a draft, with those of its times.
    private func indexedFields(of draft: RecordDraft) -> [RecordData.IndexedField] {
        guard let content = draft.content else { return [] }
        let collection = draft.collection.definition
        return content.data.indexedFields
            + collection.indexes.compactMap { name in
                let time: Timestamp
                switch collection.time(ofIndex: name) {
                case nil: return nil
                case .created: time = draft.existing?.createdAt ?? content.importedCreation ?? now
                // A review changes no record.
                case .updated: time = (draft.isReview ? draft.existing?.updatedAt : content.importedUpdate) ?? now
                }
                return RecordData.IndexedField(field: name, value: IndexValue(time))
            }
    }

    private mutating func addLinks(
        of content: RecordDraft.Content,
        key: Int,
        ownerID: Int,
        _ targets: Targets
    ) {
        linked += content.data.links.map { (key, $0.field, $0.element) }
        for link in content.newLinks {
            if let target = targets.records[link.target] {
                recordReferences.append(
                    .init(
                        key: key,
                        field: link.field,
                        element: link.element,
                        target: target,
                        ownerID: ownerID
                    )
                )
            }
            // Under new rules, a text may become a reference to a photo. It counts only if the record's owner owns the
            // photo.
            if let photo = targets.photos[link.target], photo.userID == ownerID {
                photoReferences.append(
                    .init(
                        key: key,
                        field: link.field,
                        element: link.element,
                        target: photo.row,
                        ownerID: photo.userID
                    )
                )
            }
        }
    }

    /// The statement that writes all rows.
    ///
    /// Parts that are not needed are left out.
    ///
    /// Its rows have `key` and `version` of new records, or else `stream_id`, `author_id`, `record_count` and `inbox_count`.
    var statement: PostgresQuery {
        let streams = streams.values.sorted { $0.id < $1.id }
        var parts: [PostgresQuery] = ["WITH numbered AS (\(part: StreamTable.writing(streams)))"]
        func add(_ name: PostgresQuery, _ part: PostgresQuery?, otherwise columns: PostgresQuery? = nil) {
            guard let part = part ?? columns.map({ "SELECT \(part: $0) WHERE false" }) else { return }
            parts.append("\(part: name) AS (\(part: part))")
        }
        add(
            "added",
            added.isEmpty ? nil : RecordTable.adding(added),
            otherwise: "NULL::bigint AS key, NULL::bigint AS version"
        )
        add("changed", changed.isEmpty ? nil : RecordTable.changing(changed))
        add("deleted", deleted.isEmpty ? nil : RecordTable.deleting(deleted))
        add(
            "counted",
            authors.isEmpty ? nil : StreamTable.counting(authors),
            otherwise: """
                NULL::bigint AS stream_id, NULL::bigint AS author_id, NULL::bigint AS record_count,
                NULL::bigint AS inbox_count
                """
        )
        add("granted", grants.isEmpty ? nil : GrantTable.writing(grants))
        add("dropped", removedGrants.isEmpty ? nil : GrantTable.removal(of: removedGrants))
        parts += RecordTable.linking(
            changed.map(\.key) + deleted + reviewed,
            indexed,
            linked: linked,
            records: recordReferences,
            photos: photoReferences
        )
        let text = parts.dropFirst().reduce(parts[0]) { "\(part: $0), \(part: $1)" }
        return """
            \(part: text) SELECT key, version, stream_id, author_id::bigint AS author_id, record_count, inbox_count
            FROM added FULL JOIN counted ON false
            """
    }

    /// Refuses new records of an author when a member's stream has too many of that author.
    func check(_ counts: StreamTable.AuthorCounts, of pair: StreamTable.AuthoredStream) throws(RecordRefusal) {
        guard let change = authors[pair], change.recordCount > 0, let position = lastAddition[pair] else { return }
        // The free part before the last record was added.
        let free = RecordLimits.maxInboxCount - (streams[pair.stream]?.inboxCount ?? 0) + 1
        if change.inboxCount > 0, counts.inboxCount > free { throw RecordRefusal(.inboxFull, at: position) }
        if counts.recordCount > RecordLimits.maxCountPerReader { throw RecordRefusal(.readerFull, at: position) }
    }
}
