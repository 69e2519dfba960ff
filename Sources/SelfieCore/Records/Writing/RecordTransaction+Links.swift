import Postgres
import RecordSchema

extension RecordTransaction {
    /// Finds and locks what drafts newly refer to.
    ///
    /// - Parameters:
    ///   - drafts: The drafts of the call.
    ///   - author: Who writes them. A record must be readable for the author, a photo must be the author's own.
    /// - Returns: The targets' rows.
    /// - Throws: `RecordRefusal` with each field whose target is not there, `RecordBusy` when somebody is deleting one at
    ///   this moment, `PostgresError`.
    func targets(of drafts: [RecordDraft], author: RecordAuthor) async throws -> RecordChanges.Targets {
        let links = Set(drafts.flatMap { $0.content?.newLinks ?? [] }.map(\.target))
        var targets = RecordChanges.Targets()
        let new = Set(
            drafts.filter { $0.existing == nil }.map {
                RecordData.Target.record(id: $0.id, collection: $0.collection.name)
            }
        )
        let others = links.subtracting(new).filter(\.isRecord)
        if !others.isEmpty { targets.records = try await lock(others, author: author) }
        let photos = links.compactMap { if case .photo(let id) = $0 { id } else { nil } }
        if !photos.isEmpty {
            try await lock(photos, ofUsers: [author.member.userID], in: &targets)
        }
        for draft in drafts {
            let missing = (draft.content?.newLinks ?? []).filter { link in
                switch link.target {
                case .record: targets.records[link.target] == nil && !new.contains(link.target)
                case .member(let id): author.named[id] == nil
                case .photo: targets.photos[link.target] == nil
                }
            }
            guard missing.isEmpty else {
                throw RecordRefusal(.invalid(missing.map { RecordValidationError($0.field, .notFound) }), at: draft.position)
            }
        }
        return targets
    }

    private func lock(
        _ names: Set<RecordData.Target>,
        author: RecordAuthor
    ) async throws -> [RecordData.Target: Int] {
        var asked: [(target: RecordData.Target, collection: AppliedCollection, id: String)] = []
        for name in names {
            guard case .record(let id, let collection) = name else { continue }
            asked.append((name, try schema.collection(collection), id))
        }
        let streams = asked.reduce(into: Set<Int>()) { $0.formUnion(author.streams(in: $1.collection)) }
        let found: PostgresQuery = """
            SELECT records.key, asked.position
            FROM unnest(\(asked.map(\.collection.id)), \(asked.map(\.id)), \(Array(asked.indices)))
                AS asked (collection_id, id, position)
            JOIN records ON records.collection_id = asked.collection_id AND recipient_id = 0 AND records.id = asked.id
            WHERE deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now() AT TIME ZONE 'UTC')
                AND EXISTS (
                    SELECT FROM grants WHERE grants.collection_id = records.collection_id AND record_key = records.key
                        AND stream_id = ANY(\(Array(streams))) AND rights % 2 = 1
                )
            """
        let locked = try await connection.query(
            "\(part: found) ORDER BY records.key FOR KEY SHARE OF records SKIP LOCKED"
        )
        if locked.count < asked.count, try await connection.query(found).count > locked.count { throw RecordBusy() }
        return try locked.reduce(into: [:]) { keys, row in
            keys[asked[try row.decode("position")].target] = try row.decode("key")
        }
    }
}

/// Somebody is deleting what the call needs.
///
/// It is to begin again.
struct RecordBusy: Error {}

extension RecordData.Target {
    fileprivate var isRecord: Bool {
        if case .record = self { true } else { false }
    }
}

extension RecordTransaction {
    /// Finds what records refer to, as far as it is there.
    ///
    /// - Parameter drafts: Records that stay as they are. Nobody writes records meanwhile.
    /// - Returns: The targets' rows.
    /// - Throws: `PostgresError`.
    func presentTargets(of drafts: [RecordDraft]) async throws -> RecordChanges.Targets {
        let links = Set(drafts.flatMap { $0.content?.newLinks ?? [] }.map(\.target))
        var targets = RecordChanges.Targets()
        var records: [(target: RecordData.Target, collectionID: Int, id: String)] = []
        var photos: [String] = []
        for link in links {
            switch link {
            case .record(let id, let collection):
                if let collection = try? schema.collection(collection) { records.append((link, collection.id, id)) }
            case .photo(let id): photos.append(id)
            case .member: break
            }
        }
        if !records.isEmpty {
            let rows = try await connection.query(
                """
                SELECT key, position
                FROM unnest(\(records.map(\.collectionID)), \(records.map(\.id)), \(Array(records.indices)))
                    AS asked (collection_id, id, position)
                JOIN records USING (collection_id, id) WHERE recipient_id = 0 AND deleted_at IS NULL
                """
            )
            for row in rows { targets.records[records[try row.decode("position")].target] = try row.decode("key") }
        }
        guard !photos.isEmpty else { return targets }
        try await lock(photos, ofUsers: Array(Set(drafts.compactMap(\.existing?.ownerID))), in: &targets)
        return targets
    }

    private func lock(
        _ photos: [String],
        ofUsers userIDs: [Int],
        in targets: inout RecordChanges.Targets
    ) async throws {
        for (id, photo) in try await PhotoStore.lockOwn(photos, ofUsers: userIDs, on: connection) {
            targets.photos[.photo(randomID: id)] = photo
        }
    }
}
