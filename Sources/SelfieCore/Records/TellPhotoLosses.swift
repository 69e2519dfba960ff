import Postgres
import RecordSchema

/// Lets the readers of records hear that a photo of these is gone.
///
/// The record's data stays. It has a new version, and its readers' streams show it with the photos that are left.
struct TellPhotoLosses: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    let notifier: ChangeNotifier?

    /// The most records of a transaction.
    private static let batchSize = 100

    /// Works off what triggers have noted.
    ///
    /// While a schema is being applied, nothing is done: the next sweep is soon.
    ///
    /// - Throws: `PostgresError`, `InvalidSchema`.
    func callAsFunction() async throws {
        do { try await tellAll() } catch is SchemaLockTaken {}
    }

    private func tellAll() async throws {
        while true {
            let rows = try await postgres.read(
                "SELECT record_key, photo_owner_id::bigint AS photo_owner_id FROM photo_losses ORDER BY record_key LIMIT \(Self.batchSize)"
            )
            let keys = try rows.map { try $0.decode("record_key", as: Int.self) }
            let owners = try rows.compactMap { try $0.decodeIfPresent("photo_owner_id", as: Int.self) }
            if keys.isEmpty { return }
            let streams = try await schemas.withSchema { schema in
                try await postgres.withTransaction { connection in
                    try await tell(keys, ofPhotosOf: Array(Set(owners)), schema, on: connection)
                }
            }
            notifier?.notify(streams.map { .stream($0) })
            if keys.count < Self.batchSize { return }
        }
    }

    private func tell(
        _ keys: [Int],
        ofPhotosOf owners: [Int],
        _ schema: AppliedSchema,
        on connection: PostgresConnection
    ) async throws -> Set<Int> {
        try await SchemaLock.shareAtOnce(on: connection)
        let version = try await connection.query("SELECT \(part: SchemaStore.versionColumn) AS version")
        guard try version[0].decode("version") == schema.version else { throw SchemaChanged() }
        let transaction = RecordTransaction(connection: connection, schema: schema)
        let records = try await transaction.lock(keys: keys, by: owners)
        try await transaction.lockPhotos(ofRecords: records.map(\.key))
        // Another process may have told of some meanwhile.
        let noted = try await connection.query(
            """
            DELETE FROM photo_losses WHERE record_key = ANY(\(keys)) RETURNING record_key, photo_owner_id::bigint AS photo_owner_id
            """
        ).reduce(into: [Int: Set<Int>]()) { noted, row in
            let owner: Int? = try row.decodeIfPresent("photo_owner_id")
            noted[try row.decode("record_key")] = owner.map { [$0] } ?? []
        }
        let drafts = try records.filter { noted[$0.key] != nil }.map { record in
            guard let collection = schema.collection(id: record.collectionID) else { throw SchemaChanged() }
            let value = RecordPlanner.stored(record.data)
            let data = RecordData(stored: record.data, value, in: collection.definition)
            var draft = RecordDraft(
                position: nil,
                collection: collection,
                existing: record,
                id: record.id,
                content: RecordDraft.Content(data, value, changing: value, expiry: .unchanged),
                sharing: record.sharing,
                memberIDs: record.memberIDs
            )
            draft.authorIDs = noted[record.key] ?? []
            return draft
        }
        if !drafts.isEmpty { _ = try await transaction.apply(drafts) }
        return drafts.reduce(into: []) { $0.formUnion($1.numberedStreams) }
    }
}
