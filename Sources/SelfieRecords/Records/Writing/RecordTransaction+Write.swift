import OrderedCollections
import Postgres
import RecordSchema
import SelfieAccounts
import SelfiePhotos

extension RecordTransaction {
    /// A record's row after the call.
    struct Written {
        let key: Int
        let version: Int
    }

    /// What was written.
    struct Writes {
        var rows: [Written] = []
        /// Whether there may be something new to send out.
        var addsDeliveries = false
    }

    /// Finds and locks the targets of new references; nil when another transaction is deleting one of them.
    ///
    /// The author must be able to read a record, and own a photo. A review has no author. It accepts all existing
    /// records, and photos of the records' owners.
    ///
    /// - Throws: `RecordRefusal` with each field of an author's draft whose target does not exist, `PostgresError`.
    func targets(of drafts: [RecordDraft], by author: RecordAuthor?) async throws -> RecordRows.Targets? {
        let new = Set(drafts.filter { $0.existing == nil }.map(\.target))
        var (targets, records): (RecordRows.Targets, [(link: RecordData.Target, name: RecordName)]) = (.init(), [])
        var (photos, members, streams): ([String], [String], Set<Int>) = ([], [], [])
        for link in Set(drafts.flatMap { $0.content?.newLinks ?? [] }.map(\.target)).subtracting(new) {
            switch link {
            case .record(let id, let name):
                guard let collection = try? schema.collection(name) else { continue }
                records.append((link, RecordName(collectionID: collection.id, id: id)))
                streams.formUnion(author?.streams(in: collection) ?? [])
            case .photo(let id): photos.append(id)
            case .member(let id): members.append(id)
            }
        }
        if !records.isEmpty {
            guard let keys = try await lock(records.map(\.name), readableBy: author == nil ? nil : streams) else {
                return nil
            }
            for (link, name) in records { targets.records[link] = keys[name] }
        }
        if !photos.isEmpty {
            let owners = author.map { [$0.member.userID] } ?? Array(Set(drafts.map(\.owner.userID)))
            for (id, photo) in try await PhotoStore.lockOwn(photos, ofUsers: owners, on: connection) {
                targets.photos[.photo(randomID: id)] = photo
            }
        }
        guard author != nil else { return targets }
        if !members.isEmpty {
            let rows = try await connection.query(
                "SELECT member_id FROM users WHERE member_id = ANY(\(members)) AND disabled_at IS NULL"
            )
            targets.members = Set(try rows.map { RecordData.Target.member(id: try $0.decode("member_id")) })
        }
        for draft in drafts {
            let missing = (draft.content?.newLinks ?? []).filter { !new.contains($0.target) && !targets.has($0.target) }
            guard missing.isEmpty else {
                let errors = OrderedSet(missing.map(\.field)).map { RecordValidationError($0, .notFound) }
                throw RecordRefusal(.invalid(errors), at: draft.position)
            }
        }
        return targets
    }

    /// Locks records that others refer to, last among records and without waiting.
    ///
    /// So there is no deadlock.
    ///
    /// Nil when another transaction is deleting one of them.
    private func lock(_ names: [RecordName], readableBy streams: Set<Int>?) async throws -> [RecordName: Int]? {
        let isReadable: PostgresQuery =
            streams.map { streams in
                """
                AND \(part: RecordReader.isThere) AND EXISTS (
                    SELECT FROM grants WHERE grants.collection_id = records.collection_id AND record_key = records.key
                        AND stream_id = ANY(\(Array(streams))) AND rights % 2 = 1
                )
                """
            } ?? ""
        let found: PostgresQuery = """
            SELECT records.key, records.collection_id::bigint AS collection_id, records.id
            FROM unnest(\(names.map(\.collectionID)), \(names.map(\.id))) AS asked (collection_id, id)
            JOIN records ON records.collection_id = asked.collection_id AND recipient_id = 0 AND records.id = asked.id
            WHERE records.deleted_at IS NULL \(part: isReadable)
            """
        let locked = try await connection.query(
            "\(part: found) ORDER BY records.key FOR KEY SHARE OF records SKIP LOCKED"
        )
        if locked.count < names.count, try await connection.query(found).count > locked.count { return nil }
        return try locked.reduce(into: [:]) { keys, row in
            keys[RecordName(collectionID: try row.decode("collection_id"), id: try row.decode("id"))] =
                try row.decode("key")
        }
    }

    /// Writes drafts, in one statement after the streams are locked.
    ///
    /// Their references are set by an author, or else by the records' owners.
    ///
    /// - Throws: `RecordRefusal` when there is no room, `PostgresError`.
    @discardableResult
    func write(
        _ drafts: [RecordDraft],
        to targets: RecordRows.Targets = .init(),
        by author: ChangeAuthor? = nil,
        quotaBytes: Int = .max,
        tellsOthers: Bool = true
    ) async throws -> Writes {
        if drafts.isEmpty { return Writes() }
        try await lockPhotos(
            ofRecords: drafts.filter { !$0.collection.definition.photoFields.isEmpty || $0.isReview }
                .compactMap(\.existing?.key)
        )
        let charged = Set(drafts.flatMap(\.charges).map(\.id))
        let newCount = drafts.count { $0.existing == nil }
        let locked = try await lockStreams(
            drafts.shownStreams.union(charged),
            newCount: newCount,
            collections: Set(drafts.map(\.collection.id))
        )
        var unusedKeys = locked.keys.makeIterator()
        let keys = drafts.compactMap { $0.existing?.key ?? unusedKeys.next() }
        var targets = targets
        for (draft, key) in zip(drafts, keys) where draft.existing == nil { targets.records[draft.target] = key }
        var rows = RecordRows(streams: locked.streams, now: locked.now, quotaBytes: quotaBytes)
        for (draft, key) in zip(drafts, keys) {
            try rows.add(draft, key: key, authorID: author?.userID, targets: targets)
        }
        var versions: [Int: Int] = [:]
        for row in try await connection.query(rows.statement) {
            if let key: Int = try row.decodeIfPresent("key") {
                versions[key] = try row.decode("version")
                continue
            }
            let pair = StreamTable.AuthoredStream(
                stream: try row.decode("stream_id"),
                authorID: try row.decode("author_id")
            )
            let counts = StreamTable.AuthorCounts(
                recordCount: try row.decode("record_count"),
                inboxCount: try row.decode("inbox_count")
            )
            try rows.check(counts, of: pair)
        }
        let written = zip(drafts, keys).map { draft, key in
            Written(key: key, version: versions[key] ?? (draft.existing?.version ?? 0) + 1)
        }
        guard tellsOthers else { return Writes(rows: written) }
        var writes = Writes(rows: written, addsDeliveries: locked.tellsWebhooks)
        if locked.tellsWebhooks { try await tellWebhooks(of: zip(drafts, written)) }
        if locked.tellsSubscriptions, try await tellSubscriptions(of: zip(drafts, written), by: author) {
            writes.addsDeliveries = true
        }
        return writes
    }

    /// Locks the photos to which records may lose their references.
    ///
    /// A deletion of a photo locks it before its losses and the stream, and so must this.
    func lockPhotos(ofRecords keys: [Int]) async throws {
        if keys.isEmpty { return }
        try await connection.execute(
            """
            SELECT FROM photos WHERE id IN (SELECT photo_id FROM photo_references WHERE record_key = ANY(\(keys)))
            ORDER BY id FOR KEY SHARE
            """
        )
    }

    /// The streams of a transaction, which are locked.
    private struct LockedStreams {
        let streams: [StreamTable.Row]
        /// For new records.
        let keys: [Int]
        /// The time of the transaction.
        let now: Timestamp
        /// Whether there may be a webhook.
        let tellsWebhooks: Bool
        /// Whether there may be a subscription.
        let tellsSubscriptions: Bool
    }

    /// Locks streams, after everything else, and takes keys for new records.
    private func lockStreams(
        _ ids: Set<Int>,
        newCount: Int,
        collections: Set<Int>
    ) async throws -> LockedStreams {
        let rows = try await connection.query(
            StreamTable.locking(
                .ids(ids.sorted()),
                selecting: """
                    id, seq, record_count, inbox_count, byte_count, \(part: Self.milliseconds("now()")) AS now,
                    ARRAY(SELECT nextval('records_key_seq') FROM generate_series(1, \(newCount))) AS keys,
                    EXISTS (SELECT FROM webhooks WHERE disabled_at IS NULL) AS tells_webhooks,
                    EXISTS (
                        SELECT FROM subscription_filters WHERE collection_id = ANY(\(collections.sorted()))
                    ) AS tells_subscriptions
                    """
            )
        )
        let streams = try rows.map { row in
            StreamTable.Row(
                id: try row.decode("id"),
                number: try row.decode("seq"),
                recordCount: try row.decode("record_count"),
                inboxCount: try row.decode("inbox_count"),
                byteCount: try row.decode("byte_count")
            )
        }
        return LockedStreams(
            streams: streams,
            keys: try rows.first?.decode("keys", as: [Int].self).sorted() ?? [],
            now: Timestamp(milliseconds: try rows.first?.decode("now") ?? 0),
            // Without any stream, nothing was asked.
            tellsWebhooks: try rows.first?.decode("tells_webhooks") ?? true,
            tellsSubscriptions: try rows.first?.decode("tells_subscriptions") ?? false
        )
    }
}

extension [RecordDraft] {
    /// The streams that are shown a change.
    var shownStreams: Set<Int> { reduce(into: []) { $0.formUnion($1.shownStreams) } }

    /// What other processes are to know once they are written.
    func notifications(of writes: RecordTransaction.Writes) -> [ChangeNotifier.Notification] {
        shownStreams.map { .stream($0) } + (writes.addsDeliveries ? [.deliveries] : [])
    }
}
