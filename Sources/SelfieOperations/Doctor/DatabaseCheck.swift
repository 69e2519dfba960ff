import Encodings
import FoundationEssentials
import Migrations
import Postgres
import SelfieConfiguration

/// Checks the database: connection, version, write access, migrations, clock, and passwords that were not decrypted.
struct DatabaseCheck: Sendable {
    let configuration: PostgresConfiguration
    let migrations: Result<[Migration], MigrationError>
    let statusLimit: Duration
    let now: @Sendable () -> Date
    let findings: Findings

    /// The first version with everything that the migrations use.
    private static let minVersion = 13
    private static let tables = [
        "users", "photos", "photo_libraries", "sessions", "object_deletions", "rate_limits", "known_addresses",
        "audit_events", "undecryptable_passwords",
    ]

    /// - Returns: Whether the database can be used.
    func run() async -> Bool {
        do {
            return try await PostgresClient.withClient(configuration: configuration) { client in
                try await client.withConnection { connection in
                    try await checkServer(connection)
                    guard await checkMigrations(), try await checkPrivileges(connection) else { return false }
                    try await checkPasswords(connection)
                    return true
                }
            }
        } catch {
            let error = error as? PostgresError ?? .connectionLost("\(error)")
            findings.failed(.database(error, secrets: findings.secrets))
            findings.skipped("the other checks")
            return false
        }
    }

    private func checkServer(_ connection: PostgresConnection) async throws(PostgresError) {
        let sent = now()
        let rows = try await connection.query(
            """
            SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
                pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS is_read_only,
                has_database_privilege(current_database(), 'TEMPORARY') AS may_use_temporary_tables,
                current_user::text AS role, clock_timestamp() AS time
            """
        )
        let received = now()
        guard let row = rows.first else { return }
        let version = try row.decode("version", as: String.self).prefix { $0 != " " }
        if try row.decode("number", as: Int.self) < Self.minVersion * 10_000 {
            findings.failed(
                "reachable, PostgreSQL \(version), which is too old",
                "Move the database to PostgreSQL \(Self.minVersion) or later."
            )
        } else {
            findings.ok("reachable, PostgreSQL \(version)")
        }
        if try row.decode("is_read_only", as: Bool.self) {
            findings.failed(
                "it is read only, perhaps a standby",
                "Set DATABASE_URL to the primary, or to all servers with target_session_attrs=read-write."
            )
        }
        // Each time is compared with the clock that wrote it, so a few seconds do no harm.
        findings.clock("its clock", at: try row.decode("time"), sent: sent, received: received, maxSeconds: 5)
        if await connection.isBehindPooler {
            findings.warning(
                "there is a pooler before it, and selfie photos reconcile and copy need a session of their own",
                "Run these two with the DATABASE_URL of the database itself. See docs/operations.md#processes."
            )
        } else if try row.decode("may_use_temporary_tables", as: Bool.self) {
            findings.ok("temporary tables are allowed")
        } else {
            findings.warning(
                "its user may not make temporary tables, which selfie photos reconcile and copy need",
                "As the database's owner, run: GRANT TEMPORARY ON DATABASE … TO \(try row.decode("role", as: String.self))"
            )
        }
    }

    /// - Returns: Whether all tables must exist.
    private func checkMigrations() async -> Bool {
        do {
            let migrations = try migrations.get()
            let migrator = Migrator(configuration: configuration, migrations: migrations, lock: MigrationLock.number)
            return report(try await withLimit(statusLimit) { try await migrator.status() })
        } catch {
            findings.failed(
                "its migrations could not be checked: \(findings.secrets.hidden(in: "\(error)"))",
                "Run selfie migrate status in the project's folder, or name the folder with --migrations."
            )
            return false
        }
    }

    private func report(_ plan: MigrationPlan) -> Bool {
        let count = { (state: MigrationPlan.State) in plan.entries.filter { $0.state == state }.count }
        let (pending, edited, missing) = (count(.pending), count(.edited), count(.missing))
        if pending > 0 {
            findings.failed("\(pending) of \(plan.entries.count) migrations not applied", "Run: selfie migrate")
        }
        if edited > 0 {
            findings.failed(
                "\(counted(edited, "migration")) edited after the database had applied them",
                "Restore the files that selfie migrate status shows, and put the change into a new migration."
            )
        }
        if missing > 0 {
            findings.warning(
                "it has \(counted(missing, "migration")) that this version of Selfie does not know",
                "Deploy the newest version, unless you know where they come from."
            )
        }
        if pending + edited == 0 { findings.ok("migrated, with \(counted(count(.applied), "migration"))") }
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

    /// How many days of passwords are counted.
    private static let days = 7

    /// Warns of passwords that the service could not decrypt.
    private func checkPasswords(_ connection: PostgresConnection) async throws(PostgresError) {
        var findings = findings
        findings.subject = .passwords
        let rows = try await connection.query(
            """
            SELECT reason, sum(count)::bigint AS count, max(last_at) AS last_at FROM undecryptable_passwords
            WHERE last_at > now() AT TIME ZONE 'UTC' - make_interval(days => \(Self.days)::integer)
            GROUP BY reason ORDER BY count DESC, reason
            """
        )
        if rows.isEmpty { findings.ok("all of the last \(Self.days) days could be decrypted") }
        for row in rows {
            let (reason, count) = (try row.decode("reason", as: String.self), try row.decode("count", as: Int.self))
            let date = try row.decode("last_at", as: Date.self).formatted(.iso8601)
            findings.warning(
                "\(counted(count, "password")) of the last \(Self.days) days not decrypted (\(reason)), the last at \(date)",
                "A client encrypts them in another way. See docs/passwords.md#when-a-password-cant-be-decrypted."
            )
        }
    }
}
