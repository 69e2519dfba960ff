import DatabaseTestSupport
import Postgres
import ServerProcesses
import Testing

@testable import Migrations

@Suite("Migrator", .timeLimit(.minutes(3)))
struct MigratorTests {
    private static func migration(_ digit: Int, up: String, down: String = "") throws -> Migration {
        try Migration(
            fileName: "2026010100000\(digit)_step_\(digit).sql",
            contents: "-- migrate:up\n\(up)\n-- migrate:down\n\(down)"
        )
    }

    private static func steps() throws -> [Migration] {
        try (1...3).map { digit in
            try migration(digit, up: "CREATE TABLE t\(digit) (id int);", down: "DROP TABLE t\(digit);")
        }
    }

    private func migrator(_ url: String, _ migrations: [Migration], attempts: Int = 100) throws -> Migrator {
        Migrator(configuration: try .patient(url: url), migrations: migrations, lock: 1, attempts: attempts)
    }

    private func tables(_ url: String) async throws -> [String] {
        try await TestCluster.withClient(url) { client in
            let rows = try await client.read(
                "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 't_' ORDER BY 1"
            )
            return try rows.map { try $0.decode("name") }
        }
    }

    @Test("Up applies everything in order, once; down takes the last back; up brings it again")
    func upAndDown() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try Self.steps()
            #expect(try await migrator(url, steps).up() == steps)
            #expect(try await migrator(url, steps).up().isEmpty)
            #expect(try await tables(url) == ["t1", "t2", "t3"])

            #expect(try await migrator(url, steps).down(.last(1))?.map(\.name) == ["step_3"])
            #expect(try await tables(url) == ["t1", "t2"])
            #expect(try await migrator(url, steps).status().entries.map(\.state) == [.applied, .applied, .pending])
            #expect(try await migrator(url, steps).up().map(\.name) == ["step_3"])

            #expect(try await migrator(url, steps).down(.last(7))?.map(\.name) == ["step_3", "step_2", "step_1"])
            #expect(try await tables(url).isEmpty)
            #expect(try await migrator(url, steps).down(.last(1)) == [])
            #expect(try await migrator(url, steps).up() == steps)
        }
    }

    @Test(
        "A step that fails leaves nothing of itself, keeps the earlier, and is applied once it is mended",
        arguments: [
            "SELECT no_such_column", "INSERT INTO t1 SELECT 'words'", "COMMIT; SELECT no_such_column", "syntax error",
            // The step itself goes through, and what notes that it did does not.
            "INSERT INTO schema_migrations (version) VALUES ('20260101000002')",
        ]
    )
    func failure(failing: String) async throws {
        try await TestCluster.withEmptyDatabase { url in
            var steps = try Self.steps()
            let isAtomic = !failing.hasPrefix("COMMIT")
            steps[1] = try Self.migration(2, up: "CREATE TABLE t2 (id int);\n\(failing);")
            let error = await #expect(throws: MigrationError.self) { try await migrator(url, steps).up() }
            guard case .failed(steps[1], _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains("20260101000002_step_2.sql failed") == true)
            #expect(try await tables(url) == (isAtomic ? ["t1"] : ["t1", "t2"]))
            #expect(try await migrator(url, steps).status().entries.map(\.state) == [.applied, .pending, .pending])
            // What a step commits itself stays, and is in the way of the mended one.
            if isAtomic {
                #expect(try await migrator(url, try Self.steps()).up().map(\.name) == ["step_2", "step_3"])
            } else {
                await #expect(throws: MigrationError.self) { try await migrator(url, try Self.steps()).up() }
            }
        }
    }

    /// Runs a body while a transaction reads a table.
    private static func whileReading(
        _ table: String,
        _ client: PostgresClient,
        _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        try await client.withTransaction { connection in
            _ = try await connection.query(PostgresQuery(stringLiteral: "SELECT FROM \(table)"))
            try await body(connection)
        }
    }

    /// Whether a session waits for a lock.
    private static func waits(_ client: PostgresClient) async throws -> Bool {
        try await client.read(
            """
            SELECT count(*) > 0 AS waits FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE%'
            """
        )[0].decode("waits")
    }

    @Test("While a step waits for a table, requests that came after it are answered; then it is applied")
    func waiting() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try Self.steps()
            _ = try await migrator(url, [steps[0]]).up()
            let change = try Self.migration(2, up: "ALTER TABLE t1 ADD COLUMN more int;")
            let migrator = try migrator(url, [steps[0], change])
            try await TestCluster.withClient(url) { client in
                try await withThrowingTaskGroup(of: [Migration].self) { group in
                    try await Self.whileReading("t1", client) { _ in
                        group.addTask { try await migrator.up() }
                        try await poll("it waits") { try await Self.waits(client) }
                        #expect(try await client.read("SELECT FROM t1").isEmpty)
                    }
                    #expect(try await group.next() == [change])
                }
            }
        }
    }

    @Test("A step gives its tables back before a request that has another one is the victim of a deadlock")
    func deadlock() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try Self.steps()
            _ = try await migrator(url, Array(steps[0...1])).up()
            let change = try Self.migration(
                3,
                up: "ALTER TABLE t1 ADD COLUMN more int; SELECT pg_sleep(0.1); ALTER TABLE t2 ADD COLUMN more int;"
            )
            let migrator = try migrator(url, [steps[0], steps[1], change])
            try await TestCluster.withClient(url) { client in
                try await withThrowingTaskGroup(of: [Migration].self) { group in
                    try await Self.whileReading("t2", client) { connection in
                        group.addTask { try await migrator.up() }
                        try await poll("it has a table") {
                            try await client.read(
                                "SELECT FROM pg_locks WHERE relation = 't1'::regclass AND mode = 'AccessExclusiveLock'"
                            ).count == 1
                        }
                        _ = try await connection.query("SELECT FROM t1")
                    }
                    #expect(try await group.next() == [change])
                }
            }
        }
    }

    @Test("A step whose table is in use all the time is given up, and leaves nothing of itself")
    func busy() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try Self.steps()
            _ = try await migrator(url, [steps[0]]).up()
            let change = try Self.migration(2, up: "CREATE TABLE t2 (); ALTER TABLE t1 ADD COLUMN more int;")
            let migrator = try migrator(url, [steps[0], change], attempts: 2)
            try await TestCluster.withClient(url) { client in
                try await Self.whileReading("t1", client) { _ in
                    await #expect {
                        _ = try await migrator.up()
                    } throws: {
                        guard case MigrationError.busy(change) = $0 else { return false }
                        return true
                    }
                }
            }
            #expect(try await tables(url) == ["t1"])
            #expect(try await migrator.up() == [change])
        }
    }

    @Test(
        "A step that is stopped while its table is in use leaves nothing, and the next run applies it",
        arguments: [true, false]
    )
    func cancelled(whileItWaits: Bool) async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try Self.steps()
            _ = try await migrator(url, [steps[0]]).up()
            let change = try Self.migration(2, up: "CREATE TABLE t2 (); ALTER TABLE t1 ADD COLUMN more int;")
            let migrator = try migrator(url, [steps[0], change])
            try await TestCluster.withClient(url) { client in
                try await Self.whileReading("t1", client) { _ in
                    let run = Task { try await migrator.up() }
                    try await poll("it waits") { try await Self.waits(client) }
                    if !whileItWaits { try await poll("it pauses") { try await !Self.waits(client) } }
                    run.cancel()
                    await #expect(throws: (any Error).self) { try await run.value }
                }
            }
            #expect(try await tables(url) == ["t1"])
            #expect(try await migrator.up() == [change])
        }
    }

    @Test("A step whose down script fails stays applied, and later ones are reverted")
    func failureDown() async throws {
        try await TestCluster.withEmptyDatabase { url in
            var steps = try Self.steps()
            steps[1] = try Self.migration(2, up: "CREATE TABLE t2 ()", down: "DROP TABLE t2; SELECT no_such_column")
            _ = try await migrator(url, steps).up()
            await #expect(throws: MigrationError.self) { try await migrator(url, steps).down(.last(3)) }
            #expect(try await tables(url) == ["t1", "t2"])
            #expect(try await migrator(url, steps).status().entries.map(\.state) == [.applied, .applied, .pending])
        }
    }

    @Test("Nothing is reverted before it is confirmed, and only the steps that were confirmed")
    func confirmation() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try Self.steps()
            let migrator = try migrator(url, steps)
            _ = try await migrator.up()
            let refused = try await migrator.down(.last(9)) { asked in
                #expect(asked == steps.reversed())
                return false
            }
            #expect(refused == nil)
            #expect(try await tables(url) == ["t1", "t2", "t3"])
            await #expect {
                try await migrator.down(.last(1)) { _ in
                    // Another process is faster.
                    _ = try await migrator.down(.last(1))
                    return true
                }
            } throws: {
                guard case MigrationError.changedMeanwhile = $0 else { return false }
                return true
            }
            #expect(try await tables(url) == ["t1", "t2"])
        }
    }

    @Test("Ten that start at once apply each step once")
    func parallel() async throws {
        try await TestCluster.withEmptyDatabase { url in
            // A step that would leave two rows if it ran twice, and that waits until the nine others wait, too.
            let gate = 4711
            let wait = "SELECT pg_advisory_xact_lock(\(gate));"
            let steps =
                try Self.steps() + [
                    Self.migration(4, up: "CREATE TABLE t4 (id int); \(wait) INSERT INTO t4 VALUES (1)")
                ]
            let applied = try await TestCluster.withClient(url) { client in
                try await withThrowingTaskGroup(of: [Migration].self) { tasks in
                    try await client.withConnection { connection in
                        try await connection.query("SELECT pg_advisory_lock(\(gate))")
                        for _ in 0..<10 {
                            tasks.addTask { try await self.migrator(url, steps).up() }
                        }
                        try await poll("one is in the middle of the last step, and nine wait for it") {
                            let rows = try await connection.query(
                                """
                                SELECT objid = \(gate)::oid AS is_gate, count(*) AS count FROM pg_locks
                                WHERE locktype = 'advisory' AND NOT granted AND database
                                    = (SELECT oid FROM pg_database WHERE datname = current_database())
                                GROUP BY 1 ORDER BY 1
                                """
                            )
                            return try rows.map { try $0.decode("count", as: Int.self) } == [9, 1]
                        }
                        try await connection.query("SELECT pg_advisory_unlock(\(gate))")
                    }
                    return try await tasks.reduce(into: []) { $0.append($1.map(\.name)) }
                }
            }
            #expect(applied.filter { !$0.isEmpty } == [steps.map(\.name)])
            let count = try await TestCluster.withClient(url) { client in
                try await client.read("SELECT count(*) AS count FROM t4")[0].decode("count", as: Int.self)
            }
            #expect(count == 1)
            #expect(try await tables(url) == ["t1", "t2", "t3", "t4"])
        }
    }

    @Test("A file that was edited after it was applied stops everything, and only the words count")
    func edited() async throws {
        try await TestCluster.withEmptyDatabase { url in
            var steps = try Self.steps()
            _ = try await migrator(url, Array(steps.prefix(2))).up()
            steps[0] = try Self.migration(1, up: "CREATE TABLE t1 (id int); -- a comment more", down: "DROP TABLE t1;")
            #expect(try await migrator(url, steps).status().entries.map(\.state) == [.edited, .applied, .pending])
            await #expect {
                try await migrator(url, steps).up()
            } throws: {
                "\($0)".contains("Edited after they were applied: 20260101000001_step_1.sql.")
            }
            #expect(try await tables(url) == ["t1", "t2"])
            #expect(try await migrator(url, try Self.steps()).up().map(\.name) == ["step_3"])
        }
    }

    @Test("A look at the status changes nothing, whether the tables of versions are there or not")
    func statusOnly() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try Self.steps()
            #expect(try await migrator(url, steps).status().entries.map(\.state) == [.pending, .pending, .pending])
            try await TestCluster.withClient(url) { client in
                let tables = try await client.read("SELECT FROM pg_tables WHERE schemaname = 'public'")
                #expect(tables.isEmpty)
                try await client.write("CREATE TABLE schema_migrations (version varchar(255) NOT NULL)")
                try await client.write("INSERT INTO schema_migrations VALUES (\(steps[0].version))")
            }
            #expect(try await migrator(url, steps).status().entries.map(\.state) == [.applied, .pending, .pending])
        }
    }

    @Test("A step that copies from the client fails instead of waiting for what never comes", .timeLimit(.minutes(1)))
    func copy() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = [try Self.migration(1, up: "CREATE TABLE t1 (id int); COPY t1 FROM STDIN;")]
            await #expect(throws: MigrationError.self) { try await migrator(url, steps).up() }
            #expect(try await tables(url).isEmpty)
        }
    }

    @Test("An unreachable database is reported as such")
    func unreachable() async throws {
        let migrator = try migrator("postgresql://nobody@127.0.0.1:1/none", [])
        await #expect {
            try await migrator.up()
        } throws: {
            guard case MigrationError.unreachable = $0 else { return false }
            return true
        }
    }

    @Test("The project's own steps go up, all the way down and up again")
    func ownMigrations() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let migrations = try TestCluster.migrations()
            #expect(migrations.map(\.version).starts(with: RailsDatabase.versions))
            #expect(try await migrator(url, migrations).up() == migrations)
            let dump = try await DatabaseDump.lines(url: url)
            #expect(try await migrator(url, migrations).down(.last(99)) == migrations.reversed())
            let left = try await DatabaseDump.lines(url: url, without: "migration_checksums")
            #expect(left.allSatisfy { $0.contains("schema_migrations") })
            #expect(try await migrator(url, migrations).up() == migrations)
            #expect(try await DatabaseDump.lines(url: url) == dump)
        }
    }

    @Test("Each of the project's own steps can be reverted and applied again")
    func ownMigrationsOneByOne() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let migrations = try TestCluster.migrations()
            for count in migrations.indices {
                let part = Array(migrations[...count])
                let before = try await DatabaseDump.lines(url: url, without: "migration_checksums")
                #expect(try await migrator(url, part).up().count == 1)
                #expect(try await migrator(url, part).down(.last(1))?.count == 1)
                if count > 0 {
                    #expect(try await DatabaseDump.lines(url: url, without: "migration_checksums") == before)
                }
                #expect(try await migrator(url, part).up().count == 1)
            }
        }
    }

    @Test("Behind a pooler nothing begins: the lock would stay in a session that others use")
    func pooler() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await Pgbouncer.with(url, sessions: 1) { pooled in
                let migrator = Migrator(configuration: try PostgresConfiguration(url: pooled), migrations: [], lock: 1)
                let error = await #expect(throws: MigrationError.self) { _ = try await migrator.up() }
                guard case .pooler = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }
}
