import FoundationEssentials
import Postgres
import RecordSchema

extension RecordTransaction {
    /// What the receiver of a webhook gets of a record.
    private struct EventData: Encodable {
        let collection: String
        let id: String
        /// The member's id.
        let owner: String
        let version: Int
        /// The row, for a webhook that gets the record, too.
        ///
        /// It is not sent.
        let key: Int
    }

    /// Adds deliveries for the webhooks that are told of changes.
    func tellWebhooks(of changes: some Sequence<(RecordDraft, Written)>) async throws {
        // A review changes no record.
        let changes = changes.filter { !$0.0.isReview }
        if changes.isEmpty { return }
        let encoder = JSONEncoder()
        let data = try changes.map { draft, written in
            let data = EventData(
                collection: draft.collection.name,
                id: draft.name.id,
                owner: draft.owner.id,
                version: written.version,
                key: written.key
            )
            return String(decoding: try encoder.encode(data), as: UTF8.self)
        }
        try await connection.execute(
            """
            SELECT tell_webhooks(collection, change, data::jsonb) FROM unnest(
                \(changes.map(\.0.collection.name)), \(changes.map(\.0.effect.rawValue)), \(data)
            ) WITH ORDINALITY AS told (collection, change, data, position) ORDER BY position
            """
        )
    }
}
