package import Postgres
import RecordSchema

/// All records that a user owns, for an export.
package struct OwnedRecords: Sendable {
    private let store: RecordStore
    private let schemas: SchemaCache

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        store = RecordStore(postgres: postgres)
        schemas = SchemaCache(store: SchemaStore(postgres: postgres))
    }

    /// Goes through the records, with a page of about 256 KiB in memory at a time.
    ///
    /// - Parameters:
    ///   - userID: The owner.
    ///   - body: Takes a record. They are ordered by the names of their collections, and then by age.
    /// - Throws: `PostgresError`, `InvalidSchema`, or what the body throws.
    package func forEach(ofUser userID: Int, _ body: (StoredRecord) async throws -> Void) async throws {
        for collection in try await schemas.newest().allCollections.map(\.name).sorted() {
            var last = 0
            while true {
                let page = try await page(of: collection, after: last, userID: userID)
                guard let end = page.last else { break }
                for row in page { try await body(row.record) }
                last = end.key
            }
        }
    }

    /// A page; empty when there are no more, or the collection was removed meanwhile.
    private func page(of name: String, after key: Int, userID: Int) async throws -> [RecordRow] {
        do {
            return try await schemas.withSchema { schema in
                let reader = RecordReader(userID: userID, collection: try schema.collection(name))
                return try await store.owned(by: reader, after: key, schema: schema)
            }
        } catch let refusal as RecordRefusal {
            guard case .noCollection = refusal.reason else { throw refusal }
            return []
        }
    }
}
