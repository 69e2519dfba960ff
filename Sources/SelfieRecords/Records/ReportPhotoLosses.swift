import Postgres
import RecordSchema
import SelfieAccounts
import SelfiePhotos

/// Adds changes for the readers of records whose photo was deleted.
///
/// The record's data stays. It gets a new version, and its readers receive it with the remaining photos.
package struct ReportPhotoLosses: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    let notifier: ChangeNotifier?

    /// The most records of a transaction.
    private static let batchSize = 100

    /// Handles the losses that triggers have noted.
    ///
    /// While a schema is being applied, it does nothing: the next sweep is soon.
    ///
    /// - Throws: `PostgresError`, `InvalidSchema`.
    package func callAsFunction() async throws {
        do { try await reportAll() } catch is SchemaLockTaken {}
    }

    private func reportAll() async throws {
        while true {
            let rows = try await postgres.read(
                "SELECT record_key, photo_owner_id::bigint AS photo_owner_id FROM photo_losses ORDER BY record_key LIMIT \(Self.batchSize)"
            )
            let keys = try rows.map { try $0.decode("record_key", as: Int.self) }
            let owners = try rows.compactMap { try $0.decodeIfPresent("photo_owner_id", as: Int.self) }
            if keys.isEmpty { return }
            let notifications = try await RecordTransaction.run(on: postgres, schemas, waits: false) { transaction in
                try await report(keys, ofPhotosOf: Array(Set(owners)), in: transaction)
            }
            notifier?.notify(notifications)
            if keys.count < Self.batchSize { return }
        }
    }

    private func report(
        _ keys: [Int],
        ofPhotosOf owners: [Int],
        in transaction: RecordTransaction
    ) async throws -> [ChangeNotifier.Notification] {
        let records = try await transaction.lock(keys: keys, by: owners)
        try await transaction.lockPhotos(ofRecords: records.map(\.key))
        // Another process may have handled some meanwhile.
        let noted = try await transaction.connection.query(
            """
            DELETE FROM photo_losses WHERE record_key = ANY(\(keys)) RETURNING record_key, photo_owner_id::bigint AS photo_owner_id
            """
        ).reduce(into: [Int: Set<Int>]()) { noted, row in
            let owner: Int? = try row.decodeIfPresent("photo_owner_id")
            noted[try row.decode("record_key")] = owner.map { [$0] } ?? []
        }
        let drafts = try records.compactMap { record -> RecordDraft? in
            guard let owners = noted[record.key] else { return nil }
            guard let collection = transaction.schema.collection(id: record.name.collectionID) else {
                throw SchemaChanged()
            }
            let content = RecordDraft.Content(of: record, in: collection)
            return RecordDraft(of: record, in: collection, content, by: owners)
        }
        let writes = try await transaction.write(drafts)
        return drafts.notifications(of: writes)
    }
}
