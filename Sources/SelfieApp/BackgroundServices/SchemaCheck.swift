import Logging
package import Migrations
package import Postgres
import SelfieConfiguration
import ServiceLifecycle

/// Checks the database's migrations: before the first request, or as soon as the database can be reached.
package struct SchemaCheck: Service {
    private let postgres: PostgresConfiguration
    private let migrations: [Migration]

    /// How often an unreachable database is tried.
    var interval: Duration = .seconds(1)

    /// - Parameters:
    ///   - postgres: The database.
    ///   - migrations: The migrations that the service needs.
    package init(postgres: PostgresConfiguration, migrations: [Migration]) {
        self.postgres = postgres
        self.migrations = migrations
    }

    /// Refuses a database that lacks migrations.
    ///
    /// - Returns: Whether the database could be reached. The service starts without it, too.
    /// - Throws: `ServiceStartError.pendingMigrations`, or `PostgresError` when the database refuses.
    package func callAsFunction() async throws -> Bool {
        do {
            let migrator = Migrator(configuration: postgres, migrations: migrations, lock: MigrationLock.number)
            let plan = try await migrator.status()
            let pending = plan.entries.filter { $0.state == .pending }
            guard pending.isEmpty else { throw ServiceStartError.pendingMigrations(count: pending.count) }
            return true
        } catch MigrationError.unreachable {
            return false
        } catch let error as PostgresError where error.isUnavailable {
            // A database that is just starting may close a connection. That is no reason to stop, either.
            return false
        }
    }

    /// Tries again and again until the database can be reached.
    ///
    /// Then it waits for the shutdown.
    ///
    /// - Throws: As above.
    package func run() async throws {
        try await cancelWhenGracefulShutdown {
            do {
                while try await !self() { try await Task.sleep(for: interval) }
            } catch  where Task.isCancelled {}
        }
        // If one service ends, the group ends all others.
        try? await gracefulShutdown()
    }
}
