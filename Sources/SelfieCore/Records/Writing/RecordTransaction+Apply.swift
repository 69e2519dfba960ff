import Postgres
import RecordSchema

extension RecordTransaction {
    /// A record's row after the call.
    struct Written {
        let key: Int
        /// An id that was there before goes on where its last record ended, so that old entity tags do not fit.
        let version: Int
    }

    /// Writes drafts, in one statement after the streams are locked.
    ///
    /// - Parameters:
    ///   - drafts: The drafts. The targets of their links are locked.
    ///   - targets: The rows of those targets.
    ///   - author: Who changes them and owns new ones; nil for the service itself, which makes none.
    ///   - recipient: The member in whose inbox new records are; nil for other collections.
    ///   - quotaBytes: The bytes of data that a user's records may have; nil for any number.
    /// - Returns: The key and the new version of each draft.
    /// - Throws: `RecordRefusal` when there is no room, `PostgresError`.
    func apply(
        _ drafts: [RecordDraft],
        targets: RecordChanges.Targets = .init(),
        author: RecordAuthor? = nil,
        recipient: MemberStream? = nil,
        quotaBytes: Int? = nil
    ) async throws -> [Written] {
        try await lockPhotos(
            ofRecords: drafts.filter { !$0.collection.definition.photoFields.isEmpty || $0.isUnchanged }
                .compactMap(\.existing?.key)
        )
        let recipientStreams = try await recipientStreams(of: drafts)
        var streams = drafts.reduce(into: Set<Int>()) { $0.formUnion($1.numberedStreams) }
        for draft in drafts where draft.changesCount || draft.ownerBytes != 0 || draft.recipientBytes != 0 {
            if let owner = draft.existing?.owner ?? author?.member { streams.insert(owner.streamID) }
            if let stream = recipient?.streamID ?? draft.existing.flatMap({ recipientStreams[$0.recipientID] }) {
                streams.insert(stream)
            }
        }
        let newCount = drafts.count { $0.existing == nil }
        let (counters, newKeys) = try await lockStreams(streams, newCount: newCount)
        var unusedKeys = newKeys[...]
        let keys = drafts.map { $0.existing?.key ?? unusedKeys.removeFirst() }
        var targets = targets
        for (draft, key) in zip(drafts, keys) where draft.existing == nil {
            targets.records[.record(id: draft.id, collection: draft.collection.name)] = key
        }
        var changes = RecordChanges(counters: counters, quotaBytes: quotaBytes)
        for (draft, key) in zip(drafts, keys) {
            do throws(RecordRefusal) {
                try changes.add(
                    draft,
                    key: key,
                    owner: draft.existing?.owner ?? author?.member,
                    author: author?.member.userID,
                    recipient: recipient?.streamID ?? draft.existing.flatMap { recipientStreams[$0.recipientID] },
                    targets: targets
                )
            } catch {
                throw RecordRefusal(error.reason, at: draft.position)
            }
        }
        let added = try await connection.query(
            changes.statement(
                collectionID: drafts.first { $0.existing == nil }?.collection.id ?? 0,
                recipientID: recipient?.userID ?? 0,
                ownerID: author?.member.userID ?? 0
            )
        )
        var versions: [Int: Int] = [:]
        for row in added {
            if let stream: Int = try row.decodeIfPresent("stream_id") {
                try changes.check(
                    try row.decode("record_count"),
                    inboxCount: try row.decode("inbox_count"),
                    of: RecordChanges.AuthoredStream(stream: stream, authorID: try row.decode("author_id"))
                )
            } else {
                versions[try row.decode("key")] = try row.decode("version")
            }
        }
        return zip(drafts, keys).map { draft, key in
            Written(key: key, version: versions[key] ?? (draft.existing?.version ?? 0) + 1)
        }
    }

    /// Locks the photos that records may let go of.
    ///
    /// Whoever deletes one holds it before its losses and the stream, and so must this.
    ///
    /// - Parameter keys: The keys of the records, which are locked.
    /// - Throws: `PostgresError`.
    func lockPhotos(ofRecords keys: [Int]) async throws {
        if keys.isEmpty { return }
        try await connection.execute(
            """
            SELECT FROM photos WHERE id IN (SELECT photo_id FROM photo_references WHERE record_key = ANY(\(keys)))
            ORDER BY id FOR KEY SHARE
            """
        )
    }

    /// The streams of members from whose inboxes drafts go, by their users.
    private func recipientStreams(of drafts: [RecordDraft]) async throws -> [Int: Int] {
        let users = Set(drafts.compactMap(\.existing).map(\.recipientID)).subtracting([0])
        if users.isEmpty { return [:] }
        let rows = try await connection.query(
            "SELECT user_id::bigint AS user_id, id FROM streams WHERE user_id = ANY(\(Array(users)))"
        )
        return try rows.reduce(into: [:]) { streams, row in streams[try row.decode("user_id")] = try row.decode("id") }
    }
}
