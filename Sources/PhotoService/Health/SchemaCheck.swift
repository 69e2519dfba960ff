package import Logging
package import Migrations
package import Postgres

/// A look at the database before the first request.
package enum SchemaCheck {
    /// Refuses a database that lacks migrations.
    ///
    /// One that can't be reached is no reason not to start: requests are answered 503 until it is back.
    ///
    /// - Parameters:
    ///   - postgres: The database.
    ///   - migrations: The steps that the service relies on.
    ///   - logger: Told when the database can't be reached.
    /// - Throws: `ServiceStartError.pendingMigrations`, or `PostgresError` when the database refuses.
    package static func run(
        postgres: PostgresConfiguration,
        migrations: [Migration],
        logger: Logger
    ) async throws {
        do {
            let plan = try await Migrator(configuration: postgres, migrations: migrations).status()
            let pending = plan.entries.filter { $0.state == .pending }
            guard pending.isEmpty else { throw ServiceStartError.pendingMigrations(count: pending.count) }
        } catch MigrationError.unreachable {
            logger.warning("the database can't be reached; requests are refused until it can")
        }
    }
}
