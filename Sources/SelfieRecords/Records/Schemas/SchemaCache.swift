import Postgres
import Synchronization

/// A cache of the database's schema, so that no call reads it again.
///
/// A change of the schema is not announced. So each statement that depends on it also compares its version.
package final class SchemaCache: Sendable {
    private let store: SchemaStore
    private let cached = Mutex<AppliedSchema?>(nil)

    private static let maxAttempts = 5

    package init(store: SchemaStore) {
        self.store = store
    }

    /// The schema that the database has now.
    ///
    /// - Throws: `PostgresError`, `InvalidSchema`.
    package func newest() async throws -> AppliedSchema {
        let version = try await store.version()
        if let cached = cached.withLock(\.self), cached.version == version { return cached }
        return try await reload()
    }

    /// The schema that was read last, which may be an old one.
    ///
    /// - Throws: `PostgresError`, `InvalidSchema`.
    func known() async throws -> AppliedSchema {
        if let cached = cached.withLock(\.self) { return cached }
        return try await reload()
    }

    /// Runs a body with the schema, and again if the schema has changed.
    ///
    /// A refusal may be due to an old schema. So the versions are compared first.
    ///
    /// - Parameter body: What to do. It throws ``SchemaChanged`` when a statement found another version.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, `PostgresError`, `InvalidSchema`.
    func withSchema<Result>(_ body: (AppliedSchema) async throws -> Result) async throws -> Result {
        var attempt = 1
        var schema = try await known()
        while true {
            do {
                if attempt == 1 { return try await body(schema) }
                // A standby may not have the newest schema yet.
                return try await ReadPosition.$current.withValue(nil) { try await body(schema) }
            } catch is SchemaChanged where attempt < Self.maxAttempts {
                schema = try await reload()
            } catch let refusal as RecordRefusal where attempt < Self.maxAttempts {
                let newest = try await newest()
                guard newest.version != schema.version else { throw refusal }
                schema = newest
            }
            attempt += 1
        }
    }

    private func reload() async throws -> AppliedSchema {
        let schema = try await store.applied()
        cached.withLock { $0 = schema }
        return schema
    }
}

/// The schema has changed since it was read.
struct SchemaChanged: Error {}
