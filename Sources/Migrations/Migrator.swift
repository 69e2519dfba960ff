package import Postgres

/// Applies migrations to a database and reverts them.
///
/// Versions are in `schema_migrations`, as Rails stores them, and checksums in `migration_checksums`. Changes
/// happen under an advisory lock, so processes that start together apply each step once.
///
/// The service goes on meanwhile. Its requests queue behind a step that waits for a table. So a step waits for half a second,
/// gives its other tables back, and tries again.
package struct Migrator: Sendable {
    private let configuration: PostgresConfiguration
    private let migrations: [Migration]
    private let lock: Int
    private let attempts: Int

    /// How long a step waits for a table, or a row.
    ///
    /// It is less than PostgreSQL's `deadlock_timeout`, a second. So a step gives way before a request becomes the victim of
    /// a deadlock.
    private static let lockTimeout: Duration = .milliseconds(500)
    /// The pauses between two attempts.
    private static let pauses = 200...1500

    /// - Parameters:
    ///   - configuration: The database; its limit on a statement's time is not applied.
    ///   - migrations: The steps, in the order of their versions.
    ///   - lock: The number of the advisory lock. It is the same in all versions of a program, and nothing else in the
    ///     database may lock it.
    ///   - attempts: How often a step is tried while its tables are in use: by default for about two minutes.
    package init(configuration: PostgresConfiguration, migrations: [Migration], lock: Int, attempts: Int = 100) {
        var configuration = configuration
        configuration.statementTimeout = nil
        configuration.pool.maxConnections = 1
        self.configuration = configuration
        self.migrations = migrations
        self.lock = lock
        self.attempts = attempts
    }

    /// Applies every pending step, each in a transaction of its own.
    ///
    /// - Returns: The steps that were applied; empty when there was nothing to do.
    /// - Throws: `MigrationError`, or `PostgresError` when the connection breaks.
    package func up() async throws -> [Migration] {
        try await withLock { connection in
            let pending = try await plan(on: connection).pending()
            for migration in pending {
                try await run(migration.up, of: migration, on: connection) {
                    try await $0.execute("INSERT INTO schema_migrations (version) VALUES (\(migration.version))")
                    try await $0.execute(
                        """
                        INSERT INTO migration_checksums (version, checksum)
                        VALUES (\(migration.version), encode(sha256(convert_to(\(migration.contents), 'UTF8')), 'hex'))
                        """
                    )
                }
            }
            return pending
        }
    }

    /// Reverts steps, latest first, each in a transaction of its own.
    ///
    /// - Parameters:
    ///   - target: How far to go.
    ///   - protected: Versions that must stay.
    ///   - isConfirmed: Gets the steps, latest first, before anything is changed. The database is not locked while it
    ///     decides.
    /// - Returns: The steps that were reverted; nil when that was not confirmed.
    /// - Throws: `MigrationError`, or `PostgresError` when the connection breaks.
    package func down(
        _ target: RollbackTarget,
        protecting protected: Set<String> = [],
        isConfirmed: ([Migration]) async throws -> Bool = { _ in true }
    ) async throws -> [Migration]? {
        let steps = try await withConnection { connection in
            try await plan(on: connection).rollback(to: target, protecting: protected)
        }
        guard !steps.isEmpty else { return [] }
        guard try await isConfirmed(steps) else { return nil }
        return try await withLock { connection in
            let present = try await plan(on: connection).rollback(to: target, protecting: protected)
            guard present == steps else { throw MigrationError.changedMeanwhile }
            for migration in steps {
                try await run(migration.down, of: migration, on: connection) {
                    try await $0.execute("DELETE FROM schema_migrations WHERE version = \(migration.version)")
                    try await $0.execute("DELETE FROM migration_checksums WHERE version = \(migration.version)")
                }
            }
            return steps
        }
    }

    /// Compares the files with the database without changing anything.
    ///
    /// - Returns: The plan.
    /// - Throws: `MigrationError.unreachable`, or `PostgresError` when the database refuses.
    package func status() async throws -> MigrationPlan {
        try await withConnection { try await plan(on: $0) }
    }

    /// Runs a body that holds the lock, which ends with the session.
    private func withLock<Result>(_ body: (PostgresConnection) async throws -> Result) async throws -> Result {
        try await withConnection { connection in
            // A pooler would keep the session, and with it the lock.
            if await connection.isBehindPooler { throw MigrationError.pooler }
            try await connection.query("SELECT pg_advisory_lock(\(lock))")
            try await connection.execute(script: Self.bookkeeping)
            return try await body(connection)
        }
    }

    private func withConnection<Result>(_ body: (PostgresConnection) async throws -> Result) async throws -> Result {
        do {
            return try await PostgresClient.withClient(configuration: configuration) { client in
                try await client.withConnection(body)
            }
        } catch PostgresError.cannotConnect(let reason) {
            throw MigrationError.unreachable(reason)
        }
    }

    private static let bookkeeping = """
        SET client_min_messages = warning;
        CREATE TABLE IF NOT EXISTS schema_migrations (version varchar(255) NOT NULL);
        CREATE UNIQUE INDEX IF NOT EXISTS unique_schema_migrations ON schema_migrations (version);
        CREATE TABLE IF NOT EXISTS migration_checksums (version varchar(255) PRIMARY KEY, checksum text NOT NULL);
        """

    private func plan(on connection: PostgresConnection) async throws -> MigrationPlan {
        let applied = try await appliedVersions(on: connection)
        var checksums: [String: String] = [:]
        for migration in migrations {
            let row = try await connection.query(
                "SELECT encode(sha256(convert_to(\(migration.contents), 'UTF8')), 'hex') AS checksum"
            )
            checksums[migration.version] = try row.first?.decode("checksum")
        }
        return MigrationPlan(migrations: migrations, checksums: checksums, applied: applied)
    }

    /// The versions that Rails and this program have applied.
    ///
    /// Either table may be missing.
    private func appliedVersions(on connection: PostgresConnection) async throws -> [MigrationPlan.Applied] {
        let tables = try await connection.query(
            """
            SELECT to_regclass('schema_migrations') IS NOT NULL AS versions,
                to_regclass('migration_checksums') IS NOT NULL AS checksums
            """
        )
        guard let row = tables.first, try row.decode("versions", as: Bool.self) else { return [] }
        let query: PostgresQuery =
            if try row.decode("checksums", as: Bool.self) {
                "SELECT version, checksum FROM schema_migrations LEFT JOIN migration_checksums USING (version)"
            } else {
                "SELECT version, NULL::text AS checksum FROM schema_migrations"
            }
        return try await connection.query(query).map { row in
            MigrationPlan.Applied(version: try row.decode("version"), checksum: try row.decodeIfPresent("checksum"))
        }
    }

    private func run(
        _ script: String,
        of migration: Migration,
        on connection: PostgresConnection,
        record: (PostgresConnection) async throws -> Void
    ) async throws {
        for attempt in 1... {
            do {
                return try await runOnce(script, on: connection, record: record)
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                guard attempt < attempts else { throw MigrationError.busy(migration) }
            } catch let error as PostgresError {
                throw MigrationError.failed(migration, error)
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: Self.pauses)))
        }
    }

    private func runOnce(
        _ script: String,
        on connection: PostgresConnection,
        record: (PostgresConnection) async throws -> Void
    ) async throws {
        do {
            try await connection.execute("BEGIN")
            try await connection.execute(script: "SET LOCAL lock_timeout = \(Int(Self.lockTimeout / .milliseconds(1)))")
            try await connection.execute(script: script)
            try await record(connection)
            // No script: a commit must not be cancelled.
            try await connection.execute("COMMIT")
        } catch {
            _ = try? await connection.execute(script: "ROLLBACK")
            throw error
        }
    }
}
