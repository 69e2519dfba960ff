import Postgres
import RecordSchema

/// Lets the readers of records hear that a photo of these is gone.
///
/// The record's data stays. It has a new version, and its readers' streams show it with the photos that are left.
struct TellPhotoLosses: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    let bell: ChangeBell?

    /// The most records of a transaction.
    private static let batchSize = 100

    /// Works off what triggers have noted.
    ///
    /// - Throws: `PostgresError`.
    func callAsFunction() async throws {
        while true {
            let keys: [Int] = try await postgres.read(
                "SELECT record_key FROM photo_losses ORDER BY record_key LIMIT \(Self.batchSize)"
            ).map { try $0.decode("record_key") }
            if keys.isEmpty { return }
            let streams = try await schemas.withSchema { schema in
                try await postgres.withTransaction { connection in
                    try await tell(keys, schema, on: connection)
                }
            }
            bell?.ring(streams.map { .stream($0) })
            if keys.count < Self.batchSize { return }
        }
    }

    private func tell(_ keys: [Int], _ schema: AppliedSchema, on connection: PostgresConnection) async throws -> Set<
        Int
    > {
        try await SchemaLock.share(on: connection)
        let version = try await connection.query("SELECT \(part: SchemaStore.versionColumn) AS version")
        guard try version[0].decode("version") == schema.version else { throw SchemaChanged() }
        let transaction = RecordTransaction(connection: connection, schema: schema)
        let records = try await transaction.lock(keys: keys)
        // Another process may have told of some meanwhile.
        let noted: [Int] = try await connection.query(
            "DELETE FROM photo_losses WHERE record_key = ANY(\(keys)) RETURNING record_key"
        ).map { try $0.decode("record_key") }
        let drafts = try records.filter { noted.contains($0.key) }.map { record in
            guard let collection = schema.collection(id: record.collectionID) else { throw SchemaChanged() }
            let value = RecordPlanner.stored(record.data)
            let data = RecordData(stored: record.data, value, in: collection.definition)
            return RecordDraft(
                position: nil,
                collection: collection,
                existing: record,
                id: record.id,
                content: RecordDraft.Content(data, value, changing: value, expiry: .unchanged),
                sharing: record.sharing,
                memberIDs: record.memberIDs
            )
        }
        if !drafts.isEmpty { _ = try await transaction.apply(drafts) }
        return drafts.reduce(into: []) { $0.formUnion($1.numberedStreams) }
    }
}
