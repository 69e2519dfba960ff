import ConnectionTestSupport
import DatabaseTestSupport
import EmbeddedPostgres
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// The steps of `docs/scaling.md`, "PostgreSQL, a major version".
///
/// Both servers have the same version here.
@Suite("A move to another server by logical replication", .timeLimit(.minutes(3)))
struct LogicalReplicationTests {
    private static let house = #"{"data":{"address":"a"}}"#

    @Test("Changes of each table's rows can be replicated")
    func keys() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                let rows = try await postgres.read(
                    """
                    SELECT relname::text AS name FROM pg_class
                    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relreplident NOT IN ('i', 'f')
                        AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)
                    """
                )
                #expect(try rows.map { try $0.decode("name", as: String.self) } == [])
            }
        }
    }

    @Test("The other server gets all rows and numbers, and the service goes on there")
    func move() async throws {
        try await OwnCluster.use { old in
            try await old.set("wal_level", "logical")
            try await old.kill()
            try await old.start()
            try await TestCluster.withEmptyDatabase { new in
                try await TemporaryFolder.with { folder in
                    let schema = folder.appending(path: "schema.sql").path
                    let options = ["--schema-only", "--no-publications", "--no-owner", "--file=\(schema)", old.url]
                    try await Self.run("pg_dump", options, in: folder)
                    let input = ["--quiet", "--set=ON_ERROR_STOP=1", "--file=\(schema)", new]
                    try await Self.run("psql", input, in: folder)
                }
                try await Self.move(from: old, to: new)
            }
        }
    }

    private static func run(_ program: String, _ arguments: [String], in folder: URL) async throws {
        let path = try #require(ProgramSearch.system.program(named: program), "\(program)")
        let outcome = try await ProgramOutcome.run(URL(filePath: path), arguments, directory: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private static func move(from old: OwnCluster, to new: String) async throws {
        let settings = ["RATE_LIMITS": "off"]
        let configuration = try PostgresConfiguration.patient(url: new)
        try await PostgresClient.withClient(configuration: configuration) { target in
            let (ada, cursor) = try await TestService.run(databaseURL: old.url, settings: settings) { service in
                try await service.apply(try TestService.exampleSchema)
                let ada = try await service.addMember("ada", role: "team")
                try await service.put("houses/first", as: ada, house)
                try await subscribe(target, to: service.postgres, old)
                // While the service runs on.
                try await service.put("houses/second", as: ada, house)
                #expect(try await service.upload(token: ada.token).status == 200)
                _ = try await service.makeToken(email: "grace@example.com")
                return (ada, try await service.changes("", as: ada).cursor)
            }
            try await finish(target, old)
            #expect(try await DatabaseDump.lines(url: new) == DatabaseDump.lines(url: old.url))
            try await TestService.run(databaseURL: new, settings: settings) { service in
                #expect(try await service.ids("houses", as: ada).sorted() == ["first", "second"])
                try await service.put("houses/third", as: ada, house)
                #expect(try await service.upload(token: ada.token).status == 200)
                #expect(try await service.list(token: ada.token).jsonArray?.count == 2)
                _ = try await service.makeToken(email: "alan@example.com")
                let signIn = try await service.signIn(email: "grace@example.com")
                #expect(signIn.status == 200)
                let changes = try await service.changes("?since=\(cursor)", as: ada)
                #expect(changes.status == 410 && changes.code == "changes_database", "\(changes.text)")
            }
        }
    }

    /// Has a server with the same tables follow another one, and waits until all tables are copied.
    private static func subscribe(_ target: PostgresClient, to source: PostgresClient, _ old: OwnCluster) async throws {
        try await source.write("CREATE PUBLICATION selfie_upgrade FOR ALL TABLES")
        let options = try PostgresConfiguration(url: old.url).options
        let keys = ["host", "port", "user", "dbname"]
        let server = keys.compactMap { key in options[key].map { "\(key)=\($0)" } }.joined(separator: " ")
        try await target.write(
            PostgresQuery(
                stringLiteral: "CREATE SUBSCRIPTION selfie_upgrade CONNECTION '\(server)' PUBLICATION selfie_upgrade"
            )
        )
        try await poll("all tables are copied", within: .seconds(60)) {
            try await target.read("SELECT count(*) AS count FROM pg_subscription_rel WHERE srsubstate <> 'r'")[0]
                .decode("count", as: Int.self) == 0
        }
    }

    /// Waits for the last changes, and sets the sequences, which are not replicated.
    private static func finish(_ target: PostgresClient, _ old: OwnCluster) async throws {
        try await PostgresClient.withClient(configuration: .patient(url: old.url)) { source in
            let end: String = try await source.read("SELECT pg_current_wal_lsn()::text AS lsn")[0].decode("lsn")
            try await poll("the last change has arrived", within: .seconds(60)) {
                try await source.read(
                    """
                    SELECT confirmed_flush_lsn >= \(end)::pg_lsn AS done FROM pg_replication_slots
                    WHERE slot_name = 'selfie_upgrade'
                    """
                )[0].decode("done")
            }
            let sequences = try await source.read(
                """
                SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::bigint AS value FROM pg_sequences
                WHERE last_value IS NOT NULL
                """
            )
            #expect(sequences.count > 3)
            for row in sequences {
                let (name, value) = (try row.decode("name", as: String.self), try row.decode("value", as: Int.self))
                _ = try await target.read("SELECT setval(\(name)::text::regclass, \(value))")
            }
            try await target.write("DROP SUBSCRIPTION selfie_upgrade")
        }
    }
}
