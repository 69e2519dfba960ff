package import JSON
import RecordSchema

/// Checks what a user wants to be told of.
package struct CheckFilter: Sendable {
    let store: RecordStore
    let schemas: SchemaCache

    /// Checks a condition.
    ///
    /// - Parameters:
    ///   - conditions: Fields that have values.
    ///   - collection: The name of a collection, or `photos`.
    ///   - userID: Who wants to be told.
    /// - Returns: The filter.
    /// - Throws: `RecordRefusal` for a collection that does not exist for the user, a field without an index, or a value of
    ///   another type; `PostgresError`.
    package func callAsFunction(
        _ conditions: [(field: String, value: JSONValue)],
        in collection: String,
        of userID: Int
    ) async throws -> CheckedFilter {
        if collection == Schema.photosName {
            if let field = conditions.first?.field { throw RecordRefusal(.noIndex(field: field)) }
            return .photos
        }
        return try await schemas.withSchema { schema in
            let (version, collection) = (schema.version, try schema.collection(collection))
            // Before the rest: its errors would disclose the collection's fields.
            guard try await store.lists(RecordReader(userID: userID, collection: collection)) else {
                throw RecordRefusal(.noCollection)
            }
            return try CheckedFilter(conditions, in: collection, schemaVersion: version)
        }
    }
}
