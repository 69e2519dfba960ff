import ConnectionTestSupport
import DatabaseTestSupport
import EmbeddedPostgres
import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Changes after a restore", .timeLimit(.minutes(3)))
struct ChangeRestoreTests {
    private static let house = #"{"data":{"address":"a"}}"#

    @Test(
        "After a folder is copied back, clients with lost changes begin again; a restart loses nothing"
    )
    func folder() async throws {
        try await OwnCluster.use { cluster in
            try await ServedSelfie.withObjects(.disk) { objects in
                try await TemporaryFolder.with { folder in
                    try await TestCluster.withClient(cluster.url) { postgres in
                        let served = try await ServedSelfie.start(
                            databaseURL: cluster.url,
                            objects: objects,
                            settings: ["RATE_LIMITS": "off"],
                            postgres: postgres
                        )
                        let copy = folder.appending(path: "data")
                        try await loseAndGoOn(served.service, cluster, copy)
                    }
                }
            }
        }
    }

    private func loseAndGoOn(_ service: TestService, _ cluster: OwnCluster, _ copy: URL) async throws {
        try await service.apply(try TestService.exampleSchema)
        let ada = try await service.addMember("ada")
        try await service.put("houses/kept", as: ada, Self.house)
        let kept = try await service.changes("", as: ada).cursor
        try await cluster.killHard()
        try await cluster.backUp(to: copy)
        try await cluster.start()
        // A restart alone changes nothing.
        try await expectNothing(since: kept, service, ada)
        try await service.put("houses/lost", as: ada, Self.house)
        let lost = try await service.changes("?since=\(kept)", as: ada)
        #expect(lost.summaries == ["created houses lost"])
        try await EventClient.open(service, as: ada, headers: ["Last-Event-ID: \(lost.cursor)"]) { client in
            #expect(try await client.summaries(until: "synced") == ["synced "])
            try await cluster.killHard()
            try await cluster.restore(from: copy)
            try await cluster.start()
            #expect(try await client.next()?.summary == "reset database")
            #expect(try await client.next() == nil)
        }
        try await expectNothing(since: kept, service, ada)
        // The number of what was lost is given again.
        try await service.put("houses/new", as: ada, Self.house)
        #expect(try await service.changes("?since=\(kept)", as: ada).summaries == ["created houses new"])
        try await service.put("houses/more", as: ada, Self.house)
        let refused = try await service.changes("?since=\(lost.cursor)", as: ada)
        #expect(refused.status == 410 && refused.code == "changes_database", "\(refused.text)")
    }

    /// The service may have to find the database again.
    private func expectNothing(since cursor: String, _ service: TestService, _ member: TestMember) async throws {
        let answer = try await found("an answer") {
            let answer = try await service.send(
                "GET",
                "/api/changes?since=\(cursor)",
                headers: [("Authorization", "Bearer \(member.token)")]
            )
            return answer.status == 503 ? nil : answer
        }
        #expect(answer.status == 200 && answer.summaries.isEmpty, "\(answer.text)")
    }

    @Test("A dump that is restored: every cursor begins again")
    func dump() async throws {
        try await TemporaryFolder.with { folder in
            let dump = folder.appending(path: "selfie.dump")
            let (ada, cursors) = try await ServedSelfie.run(settings: ["RATE_LIMITS": "off"]) { served in
                let service = served.service
                try await service.apply(try TestService.exampleSchema)
                let ada = try await service.addMember("ada")
                try await service.put("houses/kept", as: ada, Self.house)
                let kept = try await service.changes("", as: ada).cursor
                try await Self.run("pg_dump", ["--format=custom", "--file=\(dump.path)", service.databaseURL])
                try await service.put("houses/lost", as: ada, Self.house)
                return (ada, [kept, try await service.changes("", as: ada).cursor])
            }
            try await TestCluster.withEmptyDatabase { databaseURL in
                try await Self.run("pg_restore", ["--no-owner", "--dbname=\(databaseURL)", dump.path])
                try await TestService.run(databaseURL: databaseURL) { service in
                    for cursor in cursors {
                        let answer = try await service.changes("?since=\(cursor)", as: ada)
                        #expect(answer.status == 410 && answer.code == "changes_database", "\(answer.text)")
                    }
                    #expect(try await service.changes("", as: ada).summaries == ["created houses kept"])
                }
            }
        }
    }

    private static func run(_ program: String, _ arguments: [String]) async throws {
        let path = try #require(ProgramSearch.system.program(named: program), "\(program)")
        let outcome = try await ProgramOutcome.run(URL(filePath: path), arguments, directory: .temporaryDirectory)
        #expect(outcome.status == 0, "\(program): \(outcome.errors)")
    }
}
