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
                let unreachable = "postgresql://nobody:hidden-pass@127.0.0.1:1/none"
                async let absentRun = Self.run(pooled, ["DATABASE_URL_LISTEN": unreachable])
                let (without, past, wrong, absent) = try await (withoutRun, pastRun, wrongRun, absentRun)
                let missed = "WARNING Notifications: do not arrive"
                #expect(without.text.contains(missed))
                #expect(without.text.contains("What to do: Set DATABASE_URL_LISTEN to the database itself"))
                #expect(past.text.contains("ok Notifications: arrive at once"))
                #expect(wrong.text.contains(missed))
                #expect(wrong.text.contains("DATABASE_URL_LISTEN must lead to the same database's primary"))
                #expect(absent.text.contains("FAILED Notifications: DATABASE_URL_LISTEN can't be used"))
                #expect(!absent.text.contains("hidden-pass"))
                #expect(absent.status == 1)
            }
        }
    }

    @Test("The standby must be one of the same database")
    func standby() async throws {
        try await OwnCluster.use { primary in
            try await primary.withStandby { standby in
                let good = try await Self.run(primary.url, ["DATABASE_URL_READ": standby.url])
                #expect(good.text.contains("ok Standby: a standby of the same database, at most 5 seconds behind"))
                let same = try await Self.run(primary.url, ["DATABASE_URL_READ": primary.url])
                #expect(same.text.contains("WARNING Standby: DATABASE_URL_READ leads to the primary"))
                try await TestCluster.withDatabase { other in
                    let foreign = try await Self.run(primary.url, ["DATABASE_URL_READ": other])
                    #expect(foreign.text.contains("FAILED Standby: DATABASE_URL_READ leads to another database"))
                }
                try await standby.pauseReplay()
                try await PostgresClient.withClient(configuration: .patient(url: primary.url)) { postgres in
                    _ = try await postgres.write(
                        "INSERT INTO replication_heartbeat (beaten_at) VALUES (now())"
                    )
                }
                let behind = try await Self.run(primary.url, ["DATABASE_URL_READ": standby.url])
                #expect(behind.text.contains(/WARNING Standby: it is \d+ seconds behind, so it is not asked/))
                try await standby.resumeReplay()
                let unreachable = "postgresql://nobody:hidden-pass@127.0.0.1:1/none"
                let absent = try await Self.run(primary.url, ["DATABASE_URL_READ": unreachable])
                #expect(absent.text.contains("FAILED Standby: DATABASE_URL_READ can't be used"))
                #expect(!absent.text.contains("hidden-pass"))
            }
        }
    }
}
