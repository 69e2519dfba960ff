import Encodings
import FoundationEssentials
import Migrations
import Postgres

/// Checks the database: connection, version, write access, migrations, clock.
struct DatabaseDiagnosis: Sendable {
    private var configuration: PostgresConfiguration
    private let migrations: Result<[Migration], MigrationError>
    private let limits: DiagnosisLimits
    private let now: @Sendable () -> Date
    private let secrets: Secrets
    private let findings: Findings

    /// The first version with everything that the migrations use.
    ///
    /// The service's own statements work on older ones, too.
    private static let minVersion = 13
    private static let tables = [
        "users", "photos", "photo_libraries", "sessions", "object_deletions", "rate_limits", "known_addresses",
        "audit_events", "undecryptable_passwords",
    ]

    init(
        configuration: PostgresConfiguration,
        migrations: Result<[Migration], MigrationError>,
        limits: DiagnosisLimits,
        now: @escaping @Sendable () -> Date,
        secrets: Secrets,
        findings: Findings
    ) {
        self.configuration = configuration
        self.configuration.pool.maxConnections = 1
        self.configuration.connectTimeout = limits.databaseConnect
        self.configuration.pool.leaseTimeout = limits.databaseLease
        self.migrations = migrations
        self.limits = limits
        self.now = now
        self.secrets = secrets
        self.findings = findings
    }

    func run() async {
        do {
            try await PostgresClient.withClient(configuration: configuration) { client in
                try await client.withConnection { connection in
                    try await checkServer(connection)
                    try await checkClock(connection)
                    try await checkTemporaryTables(connection)
                    guard await checkMigrations(), try await checkPrivileges(connection) else { return }
                    try await PasswordDiagnosis(findings: findings.about(.passwords)).run(on: connection)
                }
            }
        } catch {
            let error = error as? PostgresError ?? .connectionLost("\(error)")
            findings.failed(DatabaseTrouble(error).explanation(options: configuration.options, secrets: secrets))
            findings.skipped("the other checks")
        }
    }

    private func checkServer(_ connection: PostgresConnection) async throws(PostgresError) {
        let rows = try await connection.query(
            """
            SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
                pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS is_read_only
            """
        )
        guard let row = rows.first else { return }
        let version = try row.decode("version", as: String.self).prefix { $0 != " " }
        let number = try row.decode("number", as: Int.self)
        if number < Self.minVersion * 10_000 {
            findings.failed(
                "reachable, PostgreSQL \(version), which is too old",
                "Selfie needs PostgreSQL \(Self.minVersion) or later. Move the database to a newer server."
            )
        } else {
            findings.ok("reachable, PostgreSQL \(version)")
        }
        guard try row.decode("is_read_only", as: Bool.self) else { return }
        findings.failed(
            "it takes no changes",
            """
            The server is a standby (a copy that follows another server), or set to read only. Write the primary's address \
            into DATABASE_URL, or all servers' addresses with target_session_attrs=read-write.
            """
        )
    }

    /// Compares the clocks.
    ///
    /// Each time is compared with the clock that wrote it, so a few seconds do no harm. With a quarter of an hour,
    /// `photos reconcile` may take new objects for old ones.
    private func checkClock(_ connection: PostgresConnection) async throws(PostgresError) {
        let before = now()
        let rows = try await connection.query("SELECT clock_timestamp() AS time")
        let after = now()
        guard let time = try rows.first?.decode("time", as: Date.self) else { return }
        let skew = ClockSkew(remote: time, before: before, after: after, precision: 0)
        skew.report("its clock", to: findings, maxSeconds: 5, failingSeconds: 15 * 60) {
            """
            The machines of service and database disagree about the time: rows are dated by one, tokens and photos' URLs \
            end by the other. \(ClockSkew.remedy) If the database is run for you, this machine's clock is the one to set.
            """
        }
    }

    private func checkTemporaryTables(_ connection: PostgresConnection) async throws(PostgresError) {
        if await connection.isBehindPooler {
            return findings.warning(
                "a pooler stands before it, and keeps no session for selfie photos reconcile and copy",
                """
                Run these two with the DATABASE_URL of the database itself. Set for the role what Selfie can't set for \
                sessions that others use: ALTER ROLE … SET jit = off; ALTER ROLE … SET statement_timeout = '2500ms'.
                """
            )
        }
        let rows = try await connection.query(
            "SELECT has_database_privilege(current_database(), 'TEMPORARY') AS may, current_user::text AS role"
        )
        guard let row = rows.first else { return }
        if try row.decode("may", as: Bool.self) { return findings.ok("temporary tables are allowed") }
        let role = try row.decode("role", as: String.self)
        findings.warning(
            "its user may not make temporary tables, which selfie photos reconcile and copy need",
            "As the database's owner, run: GRANT TEMPORARY ON DATABASE … TO \(role)"
        )
    }

    /// - Returns: Whether all tables must be there.
    private func checkMigrations() async -> Bool {
        do {
            let steps = try migrations.get()
            let migrator = Migrator(configuration: configuration, migrations: steps)
            let plan = try await withLimit(limits.migrationStatus) { try await migrator.status() }
            return report(plan)
        } catch {
            let advice = (error as? MigrationError).map { "\($0)" } ?? "Run selfie migrate status, which says more."
            findings.failed("it can't be told whether it is migrated", secrets.hidden(in: advice))
            return false
        }
    }

    private func report(_ plan: MigrationPlan) -> Bool {
        let count = { (state: MigrationPlan.State) in plan.entries.filter { $0.state == state }.count }
        let (pending, edited, missing) = (count(.pending), count(.edited), count(.missing))
        if pending > 0 {
            findings.failed(
                "\(pending) of \(plan.entries.count) migrations \(pending == 1 ? "is" : "are") not applied",
                "Run: selfie migrate"
            )
        }
        if edited > 0 {
            findings.failed(
                "\(edited) migration\(edited == 1 ? " was" : "s were") edited after the database had applied it",
                """
                The tables may differ from what the files say, and selfie migrate refuses to go on. selfie migrate status \
                shows which; restore the files as they were, and put the change into a new migration.
                """
            )
        }
        if missing > 0 {
            findings.warning(
                "it has \(counted(missing, "migration")) that this version of Selfie does not know",
                "A newer version may have been here. Deploy the newest, or go on if you know where they come from."
            )
        }
        if pending + edited == 0 { findings.ok("migrated, with \(count(.applied)) migrations") }
        return pending == 0
    }

    /// - Returns: Whether the tables can be read.
    private func checkPrivileges(_ connection: PostgresConnection) async throws(PostgresError) -> Bool {
        let rows = try await connection.query(
            """
            SELECT name, current_user::text AS role FROM unnest(\(Self.tables)) AS name
            WHERE NOT (has_table_privilege(name, 'SELECT') AND has_table_privilege(name, 'INSERT')
                AND has_table_privilege(name, 'UPDATE') AND has_table_privilege(name, 'DELETE'))
            """
        )
        guard let role = try rows.first?.decode("role", as: String.self) else {
            findings.ok("its tables can be read and changed")
            return true
        }
        let names = try rows.map { row throws(PostgresError) in try row.decode("name", as: String.self) }
        let list = names.joined(separator: ", ")
        findings.failed(
            "its user may not read and change the tables \(list)",
            "As the tables' owner, run: GRANT SELECT, INSERT, UPDATE, DELETE ON \(list) TO \(role)"
        )
        return false
    }
}
