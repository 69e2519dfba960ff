import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Migrations
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieConfiguration

/// While a new version is deployed, processes of the old one start and run on a database that is ahead of them.
@Suite("A database that a newer version has migrated", .timeLimit(.minutes(2)))
struct NewerDatabaseTests {
    /// As a next version might be: older versions may leave out all that it adds.
    private static func next() throws -> Migration {
        try Migration(
            fileName: "29990101000000_next.sql",
            contents: """
                -- migrate:up
                ALTER TABLE users ADD COLUMN phone text, ADD COLUMN is_admin boolean NOT NULL DEFAULT false;
                ALTER TABLE photos ADD COLUMN caption text;
                ALTER TABLE sessions ADD COLUMN app_version text;
                CREATE TABLE albums (id bigint PRIMARY KEY, user_id integer REFERENCES users (id) ON DELETE CASCADE);
                CREATE INDEX photos_title_index ON photos (title);
                -- migrate:down
                """
        )
    }

    private func withNewerDatabase(_ body: (String) async throws -> Void) async throws {
        try await TestCluster.withDatabase { url in
            let migrations = try TestCluster.migrations() + [try Self.next()]
            let migrator = Migrator(configuration: try .direct(url: url), migrations: migrations, lock: 1)
            let applied = try await migrator.up()
            #expect(applied.map(\.version) == ["29990101000000"])
            try await body(url)
        }
    }

    @Test("is served as it is: accounts are made, photos stored, listed, shown and deleted")
    func served() async throws {
        try await withNewerDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                try await ServedSelfie.withObjects(.disk) { objects in
                    let served = try await ServedSelfie.start(databaseURL: url, objects: objects, postgres: postgres)
                    let service = served.service
                    #expect(try await service.signUp(email: "ada@example.com").status == 200)
                    let signIn = try await service.signIn(email: "ada@example.com")
                    let token = try #require(signIn.json["api_authtoken"] as? String)
                    let photo = try await service.upload(token: token)
                    #expect(photo.status == 200, "\(photo.text)")
                    let list = try #require(try await service.list(token: token).jsonArray)
                    #expect(list.map { $0["title"] as? String } == ["My selfie"])
                    let address = try #require(list.first?["image_url"] as? String)
                    #expect(try await service.send("GET", address).body == TestImage.jpeg)
                    let randomID = try #require(list.first?["random_id"] as? String)
                    #expect(try await service.delete(randomID, token: token).status == 200)
                    #expect(objects.keys().isEmpty)
                    served.process.signal(SIGTERM)
                    #expect(try await served.process.waitForExit() == 0)
                }
            }
        }
    }

    @Test("is up to date for selfie migrate, and warned about by selfie doctor")
    func commands() async throws {
        try await withNewerDatabase { url in
            let before = try await DatabaseDump.lines(url: url)
            let up = try await SelfieProcess.run(
                ["migrate", "--migrations", ServedSelfie.migrationsPath],
                environment: ["DATABASE_URL": url]
            )
            #expect(up.output == "The database is up to date.\n" && up.status == 0)
            try await TemporaryFolder.with { folder in
                let run = try await DoctorRun(DoctorRun.settings(databaseURL: url, objects: .disk(folder)))
                #expect(run.status == 0)
                #expect(run.lines("WARNING").contains { $0.contains("it has 1 migration that this version") })
            }
            #expect(try await DatabaseDump.lines(url: url) == before)
        }
    }

    @Test("passes the look before the first request, which refuses only what lacks a step")
    func schemaCheck() async throws {
        let migrations = try TestCluster.migrations()
        try await withNewerDatabase { url in
            let postgres = try PostgresConfiguration.patient(url: url)
            #expect(try await SchemaCheck(postgres: postgres, migrations: migrations)())
            let more = migrations + [try Migration(fileName: "29990101000001_more.sql", contents: Self.empty)]
            let error = await #expect(throws: ServiceStartError.self) {
                try await SchemaCheck(postgres: postgres, migrations: more)()
            }
            #expect(error?.description == "The database lacks 1 migration. Run: selfie migrate")
        }
        let nowhere = try PostgresConfiguration(url: "postgresql://nobody@127.0.0.1:1/none")
        #expect(try await !SchemaCheck(postgres: nowhere, migrations: migrations)())
    }

    @Test("is not left after the look that found it")
    func schemaCheckLater() async throws {
        try await withNewerDatabase { url in
            let named = "\(url)?application_name=look"
            var check = SchemaCheck(postgres: try .patient(url: named), migrations: try TestCluster.migrations())
            check.interval = .milliseconds(1)
            let first = try await TestCluster.withClient(url) { client in
                try await withThrowingTaskGroup(of: String.self) { [check] tasks in
                    defer { tasks.cancelAll() }
                    // The lock holds the look up until it was seen.
                    try await client.withTransaction { connection in
                        try await connection.execute("LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE")
                        tasks.addTask {
                            try await check.run()
                            return "the service"
                        }
                        try await poll("the look has begun") { try await Self.looks(client).waiting == 1 }
                    }
                    tasks.addTask {
                        try await poll("the look is over") { try await Self.looks(client).all == 0 }
                        return "the look"
                    }
                    return try await tasks.next()
                }
            }
            #expect(first == "the look", "a service that ends takes the others with it")
        }
    }

    /// How many looks wait for a lock, and how many there are in all.
    private static func looks(_ client: PostgresClient) async throws -> (waiting: Int, all: Int) {
        let rows = try await client.read(
            """
            SELECT count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiting, count(*) AS all_of_them
            FROM pg_stat_activity WHERE application_name = 'look' AND datname = current_database()
            """
        )
        return (try rows[0].decode("waiting"), try rows[0].decode("all_of_them"))
    }

    private static let empty = "-- migrate:up\n-- migrate:down\n"
}
