import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Changes after a failover", .timeLimit(.minutes(3)))
struct ChangeFailoverTests {
    private static let house = #"{"data":{"address":"a"}}"#

    /// A service on a primary and its standby, which uses the one that takes writes.
    private static func run(
        _ body: @Sendable (TestService, OwnCluster, Standby) async throws -> Void
    ) async throws {
        try await OwnCluster.use { primary in
            try await primary.withStandby { standby in
                func host(_ url: String) throws -> (String, String) {
                    let options = try PostgresConfiguration(url: url).options
                    return (options["host"] ?? "", options["port"] ?? "")
                }
                let (first, second) = (try host(primary.url), try host(standby.url))
                let hosts = "host=\(first.0),\(second.0) port=\(first.1),\(second.1)"
                let url = "\(hosts) user=selfie dbname=selfie target_session_attrs=read-write"
                try await TestService.run(databaseURL: url, settings: ["RATE_LIMITS": "off"]) { service in
                    try await service.apply(try TestService.exampleSchema)
                    try await body(service, primary, standby)
                }
            }
        }
    }

    /// An answer that is none of a database that is not there yet.
    private static func changes(_ cursor: String, _ service: TestService, _ member: TestMember) async throws
        -> HTTPAnswer
    {
        try await found("an answer") {
            let answer = try await service.send(
                "GET",
                "/api/changes?since=\(cursor)",
                headers: [("Authorization", "Bearer \(member.token)")]
            )
            return answer.status == 503 ? nil : answer
        }
    }

    @Test("Behind a synchronous standby nothing is lost, and cursors go on")
    func synchronous() async throws {
        try await Self.run { service, primary, standby in
            try await primary.set("synchronous_standby_names", "standby")
            let ada = try await service.addMember("ada")
            try await service.put("houses/first", as: ada, Self.house)
            let cursor = try await service.changes("", as: ada).cursor
            try await service.put("houses/second", as: ada, Self.house)
            let end = try await service.changes("?since=\(cursor)", as: ada).cursor
            try await EventClient.open(service, as: ada, headers: ["Last-Event-ID: \(end)"]) { client in
                #expect(try await client.summaries(until: "synced") == ["synced "])
                try await primary.killHard()
                try await standby.promote()
                #expect(try await Self.changes(cursor, service, ada).summaries == ["created houses second"])
                #expect(try await Self.changes(end, service, ada).summaries.isEmpty)
                try await service.put("houses/third", as: ada, Self.house)
                #expect(try await Self.changes(end, service, ada).summaries == ["created houses third"])
                #expect(try await client.next()?.summary == "created houses third")
            }
        }
    }

    @Test("Behind an asynchronous standby that lacks changes, cursors end that have seen them, and others go on")
    func asynchronous() async throws {
        try await Self.run { service, primary, standby in
            let ada = try await service.addMember("ada")
            let bob = try await service.addMember("bob")
            try await service.put("houses/kept", as: ada, Self.house)
            try await service.put("houses/bobs", as: bob, Self.house)
            let (kept, bobs) = (
                try await service.changes("", as: ada).cursor, try await service.changes("", as: bob).cursor
            )
            try await standby.catchUp(with: primary)
            try await standby.stop()
            try await service.put("houses/lost", as: ada, Self.house)
            let lost = try await service.changes("?since=\(kept)", as: ada)
            #expect(lost.summaries == ["created houses lost"])
            try await primary.killHard()
            try await standby.start()
            try await standby.promote()
            func expectEnd() async throws {
                let answer = try await Self.changes(lost.cursor, service, ada)
                #expect(answer.status == 410 && answer.code == "changes_database", "\(answer.text)")
            }
            try await expectEnd()
            #expect(try await Self.changes(kept, service, ada).summaries.isEmpty)
            // The number of what was lost is given again.
            try await service.put("houses/new", as: ada, Self.house)
            try await expectEnd()
            #expect(try await Self.changes(kept, service, ada).summaries == ["created houses new"])
            #expect(try await Self.changes(bobs, service, bob).summaries.isEmpty)
        }
    }
}
