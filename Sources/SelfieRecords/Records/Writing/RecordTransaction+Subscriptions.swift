import Deliveries
import Postgres
import RecordSchema

/// Who changes records, if it is a user.
struct ChangeAuthor: Sendable {
    let userID: Int
    let sessionID: Int
}

extension RecordTransaction {
    /// A filter that subscriptions have.
    private struct FoundFilter {
        let id: Int
        let collectionID: Int
        let digest: String
        /// The streams, of those that are shown a change, whose readers may have such a subscription.
        let streams: Set<Int>
    }

    /// A change, with the digests of the filters that the record fitted before, and fits now.
    private struct FilteredChange {
        let draft: RecordDraft
        let key: Int
        let before: Set<String>
        let after: Set<String>

        init(_ draft: RecordDraft, _ written: Written) {
            (self.draft, key) = (draft, written.key)
            let collection = draft.collection.definition
            before =
                draft.existing.map { RecordFilter.digests(fitting: RecordData(stored: $0.data, in: collection)) } ?? []
            after = draft.content.map { RecordFilter.digests(fitting: $0.data) } ?? []
        }
    }

    /// Adds a delivery for each stream and record whose readers may have a subscription.
    ///
    /// Old values are only compared, and not kept. A change of the rules tells nobody.
    ///
    /// - Returns: Whether there is any.
    func tellSubscriptions(
        of changes: some Sequence<(RecordDraft, Written)>,
        by author: ChangeAuthor?
    ) async throws -> Bool {
        let changes = changes.filter { !$0.0.isReview && !$0.0.shownStreams.isEmpty }.map(FilteredChange.init)
        if changes.isEmpty { return false }
        let filters = Dictionary(grouping: try await filters(of: changes), by: \.collectionID)
        let deliveries = changes.flatMap { change in
            let filters = filters[change.draft.collection.id] ?? []
            return change.draft.grants.filter(\.isShown).compactMap { grant -> NewDelivery? in
                let kinds = filters.reduce(into: [String: ChangeKind]()) { kinds, filter in
                    guard filter.streams.contains(grant.stream) else { return }
                    kinds["\(filter.id)"] = Self.kind(of: change, filter.digest, for: grant)
                }
                if kinds.isEmpty { return nil }
                return ChangeCause(
                    stream: grant.stream,
                    collection: change.draft.collection.id,
                    key: change.key,
                    toldElsewhere: change.draft.collection.roleTold(besides: grant.stream),
                    author: author?.userID,
                    session: author?.sessionID,
                    filters: kinds
                ).delivery
            }
        }
        if deliveries.isEmpty { return false }
        try await connection.execute(DeliveryStore.insertion(of: deliveries))
        return true
    }

    /// What a change is for the reader of a stream who sees only what fits a filter; nil for nothing.
    private static func kind(of change: FilteredChange, _ digest: String, for grant: GrantChange) -> ChangeKind? {
        let wasThere = grant.old?.rights.contains(.read) == true && change.before.contains(digest)
        let isThere = grant.rights.contains(.read) && change.after.contains(digest)
        return switch (wasThere, isThere) {
        case (false, true): .created
        case (true, true): .updated
        case (true, false): .deleted
        case (false, false): nil
        }
    }

    private func filters(of changes: [FilteredChange]) async throws -> [FoundFilter] {
        var asked: [Int: Set<String>] = [:]
        for change in changes {
            asked[change.draft.collection.id, default: []].formUnion(change.before.union(change.after))
        }
        let names = asked.flatMap { collectionID, digests in digests.map { (collectionID, $0) } }
        let streams = changes.reduce(into: Set<Int>()) { $0.formUnion($1.draft.shownStreams) }
        let rows = try await connection.query(
            """
            SELECT filter.id, filter.collection_id::bigint AS collection_id, filter.digest, ARRAY(
                SELECT streams.id FROM streams WHERE streams.id = ANY(\(Array(streams))) AND (
                    user_id IS NULL
                    OR EXISTS (SELECT FROM subscriptions WHERE filter_id = filter.id AND subscriptions.user_id = streams.user_id)
                )
            ) AS streams
            FROM unnest(\(names.map(\.0)), \(names.map(\.1))) AS asked (collection_id, digest)
            JOIN subscription_filters AS filter USING (collection_id, digest)
            """
        )
        return try rows.map { row in
            FoundFilter(
                id: try row.decode("id"),
                collectionID: try row.decode("collection_id"),
                digest: try row.decode("digest"),
                streams: Set(try row.decode("streams", as: [Int].self))
            )
        }
    }
}
