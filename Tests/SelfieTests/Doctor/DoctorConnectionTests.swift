import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("selfie doctor, more URLs of the database", .timeLimit(.minutes(3)))
struct DoctorConnectionTests {
    private static func run(_ databaseURL: String, _ settings: [String: String]) async throws -> DoctorRun {
        try await ServedSelfie.withObjects(.disk) { objects in
            try await DoctorRun(
                DoctorRun.settings(databaseURL: databaseURL, objects: objects).merging(settings) { $1 }
            )
        }
    }

    /// The folder of its socket has the same word as its password, and libpq shows the folder.
    private static let unreachable = "postgresql://nobody:hidden-pass@/none?host=/nowhere/hidden-pass"

    @Test("Whether notifications arrive is tried, directly and past a pooler")
    func notifications() async throws {
        try await TestCluster.withDatabase { url in
            let direct = try await Self.run(url, [:])
            #expect(direct.text.contains("ok Notifications: arrive at once"))
            #expect(!direct.text.contains("Standby:"))
            try await Pgbouncer.with(url, sessions: 10) { pooled async throws in
                async let withoutRun = Self.run(pooled, [:])
                async let pastRun = Self.run(pooled, ["DATABASE_URL_LISTEN": url])
                async let wrongRun = Self.run(pooled, ["DATABASE_URL_LISTEN": pooled])
                async let absentRun = Self.run(pooled, ["DATABASE_URL_LISTEN": Self.unreachable])
                let (without, past, wrong, absent) = try await (withoutRun, pastRun, wrongRun, absentRun)
                let missed = "WARNING Notifications: do not arrive"
                #expect(without.text.contains(missed))
                #expect(without.text.contains("What to do: Set DATABASE_URL_LISTEN to the database itself"))
                #expect(past.text.contains("ok Notifications: arrive at once"))
                #expect(wrong.text.contains(missed))
                #expect(wrong.text.contains("DATABASE_URL_LISTEN must lead to the same database's primary"))
                #expect(absent.text.contains("FAILED Notifications: DATABASE_URL_LISTEN can't be used"))
                #expect(absent.text.contains("/nowhere/***/"))
                #expect(!absent.text.contains("hidden-pass"))
                #expect(absent.status == 1)
            }
        }
    }

    @Test("Another error than that notifications do not arrive is shown")
    func refusedNotification() async throws {
        try await TestCluster.withDatabase { url in
            let role = "doctor_\(UInt32.random(in: 0...UInt32.max))"
            try await RailsDatabase.run(
                """
                CREATE ROLE \(role) LOGIN;
                GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role);
                REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC;
                """,
                url: url
            )
            let run = try await Self.run("\(url)?user=\(role)", [:])
            try await RailsDatabase.run("DROP OWNED BY \(role); DROP ROLE \(role);", url: url)
            #expect(run.text.contains("FAILED Notifications: it can't be used: permission denied for function"))
            #expect(!run.text.contains("do not arrive"))
        }
    }

    @Test("The standby must be one of the same database")
    func standby() async throws {
        try await OwnCluster.use { primary in
            try await primary.withStandby { standby in
                let same = try await Self.run(primary.url, ["DATABASE_URL_READ": primary.url])
                #expect(same.text.contains("WARNING Standby: DATABASE_URL_READ leads to the primary"))
                try await TestCluster.withDatabase { other in
                    let foreign = try await Self.run(primary.url, ["DATABASE_URL_READ": other])
                    #expect(foreign.text.contains("FAILED Standby: DATABASE_URL_READ leads to another database"))
                }
                let absent = try await Self.run(primary.url, ["DATABASE_URL_READ": Self.unreachable])
                #expect(absent.text.contains("FAILED Standby: DATABASE_URL_READ can't be used"))
                #expect(absent.text.contains("/nowhere/***/"))
                #expect(!absent.text.contains("hidden-pass"))
            }
        }
    }

    @Test("How far a standby is behind is said only if a process of the service writes the time")
    func delay() async throws {
        try await OwnCluster.use { primary in
            try await primary.withStandby { standby in
                func run() async throws -> String {
                    try await Self.run(primary.url, ["DATABASE_URL_READ": standby.url]).text
                }
                let unknown = "ok Standby: a standby of the same database; its delay is not known, since no process"
                #expect(try await run().contains(unknown))

                try await standby.pauseReplay()
                try await Self.beat(primary, after: 3_600)
                let first = try await run()
                #expect(first.contains("WARNING Standby: it has no time that a process wrote, so it is not asked"))
                try await standby.resumeReplay()
                try await standby.catchUp(with: primary)
                let good = try await run()
                #expect(good.contains("ok Standby: a standby of the same database, at most 5 seconds behind"))

                try await Self.beat(primary, after: -120)
                try await standby.catchUp(with: primary)
                #expect(try await run().contains(unknown))

                try await standby.pauseReplay()
                try await Self.beat(primary, after: 3_600)
                let behind = try await run()
                #expect(behind.contains(/WARNING Standby: it is \d{3} seconds behind, so it is not asked/))
                try await standby.resumeReplay()
            }
        }
    }

    /// Writes a time as a process does: one so many seconds from now.
    ///
    /// With one in an hour, it does not matter how long the test takes.
    private static func beat(_ primary: OwnCluster, after seconds: Int) async throws {
        _ = try await PostgresClient.withClient(configuration: .patient(url: primary.url)) { postgres in
            try await postgres.write(
                """
                INSERT INTO replication_heartbeat (beaten_at) VALUES (now() + make_interval(secs => \(seconds)::integer))
                ON CONFLICT (is_only) DO UPDATE SET beaten_at = excluded.beaten_at
                """
            )
        }
    }
}
