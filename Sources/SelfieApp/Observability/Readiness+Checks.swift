import Logging
import ObjectStore
import Postgres
import SelfieWeb

extension Readiness {
    /// Looks at the database, its migrations and the store.
    convenience init(postgres: PostgresClient, versions: Set<String>, objects: any ObjectStore, logger: Logger) {
        self.init(
            [
                Check("database") { _ = try await postgres.readFirst("SELECT 1", name: "readiness") },
                Check("migrations") {
                    let rows = try await postgres.readFirst(
                        "SELECT version FROM schema_migrations",
                        name: "readiness"
                    )
                    let applied = Set(try rows.map { try $0.decode("version", as: String.self) })
                    guard versions.isSubset(of: applied) else { throw MissingMigrations() }
                },
                Check("store") {
                    do throws(ObjectStoreError) {
                        try await objects.prepare()
                    } catch {
                        // The first upload makes a missing bucket, and photos need no list.
                        guard error.isMissingBucket || error.isDenied else { throw error }
                    }
                },
            ],
            logger: logger
        )
    }
}

/// The database lacks migrations that the service needs.
struct MissingMigrations: Error, CustomStringConvertible {
    let description = "the database lacks migrations; run selfie migrate"
}
