import Logging
package import Migrations
package import Postgres
import SelfieConfiguration
import ServiceLifecycle

/// A look at the database's migrations: before the first request, or else as soon as the database can be reached.
package struct SchemaCheck: Service {
    private let postgres: PostgresConfiguration
    private let migrations: [Migration]

    /// How often a database is tried that can't be reached.
    var interval: Duration = .seconds(1)

    /// - Parameters:
    ///   - postgres: The database.
    ///   - migrations: The steps that the service relies on.
    package init(postgres: PostgresConfiguration, migrations: [Migration]) {
        self.postgres = postgres
        self.migrations = migrations
    }

    /// Refuses a database that lacks migrations.
    ///
    /// - Returns: Whether the database could be reached; one that can't is no reason not to start.
    /// - Throws: `ServiceStartError.pendingMigrations`, or `PostgresError` when the database refuses.
    package func callAsFunction() async throws -> Bool {
        do {
            let plan = try await Migrator(configuration: postgres, migrations: migrations).status()
            let pending = plan.entries.filter { $0.state == .pending }
            guard pending.isEmpty else { throw ServiceStartError.pendingMigrations(count: pending.count) }
            return true
        } catch MigrationError.unreachable {
            return false
        } catch let error as PostgresError where error.isUnavailable {
            // One that is just starting may break a connection off; that is no reason to stop either.
            return false
        }
    }

    /// Looks again and again until the database can be reached, and then waits for the shutdown.
    ///
    /// - Throws: As above.
    package func run() async throws {
        try await PeriodicService(interval: interval) { try await self() ? .never : .again }.run()
    }
}
