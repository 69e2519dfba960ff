import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie changes", .timeLimit(.minutes(3)))
struct ChangeCommandTests {
    private static func run(_ service: TestService, _ arguments: [String]) async throws -> ProgramOutcome {
        try await SelfieProcess.run(
            ["changes", "follow"] + arguments,
            environment: ["DATABASE_URL": service.databaseURL]
        )
    }

    /// Such as `created houses h1 version 1`, without the cursor.
    private static func words(_ output: String) -> [String] {
        output.split(separator: "\n").map { $0.split(separator: " ").dropLast().joined(separator: " ") }
    }

    @Test("It prints existing records and changes, without contents; with --once it ends")
    func follow() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada", role: "team"), try await service.addMember("bob"))
            let photo = try await service.upload(as: ada)
            try await service.put("houses/h1", as: ada, #"{"data":{"address":"12 Private Road"}}"#)
            try await service.put("houses/h1", as: ada, #"{"data":{"address":"13 Private Road"}}"#)
            try await service.put("houses/h9", as: bob, #"{"data":{"address":"bob's"}}"#)
            let all = try await Self.run(service, ["ada@example.com", "--once"])
            #expect(all.status == 0, "\(all)")
            let words = Self.words(all.output)
            #expect(
                Set(words.dropLast()) == ["created photos \(photo)", "created houses h1 version 2"]
                    && words.last == "synced"
            )
            #expect(!all.output.contains("Private") && !all.output.contains("signature"))
            let cursor = try #require(all.output.split(separator: " ").last?.split(separator: "\n").last).description

            let process = try SelfieProcess(
                ["changes", "follow", ada.id, "--since", cursor, "--json"],
                environment: ["DATABASE_URL": service.databaseURL]
            )
            _ = try await process.waitForOutput("(synced)")
            try await service.put("priorities/p", as: ada, #"{"data":{"name":"secret"}}"#)
            #expect(try await service.call("DELETE", "/api/records/houses/h1", as: ada).status == 200)
            _ = try await process.waitForOutput(
                #"("type":"deleted","collection":"houses","id":"h1","cursor":"[\w-]+")"#
            )
            // It is of another stream, and may come later.
            _ = try await process.waitForOutput(
                #"("type":"created","collection":"priorities","id":"p","version":1,"cursor":")"#
            )
            #expect(!process.output.contains("secret"))
            process.signal(SIGINT)
            _ = try await process.waitForExit()

            let photos = try await Self.run(service, ["\(ada.userID)", "--collections", "photos", "--once"])
            #expect(Self.words(photos.output) == ["created photos \(photo)", "synced"])
            let now = try await Self.run(service, ["\(ada.userID)", "--since", "now", "--once"])
            #expect(Self.words(now.output) == ["synced"])
        }
    }

    @Test("An unknown user or collection, and a malformed or invalid cursor, are reported")
    func refusals() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            for (arguments, text) in [
                (["eve@example.com"], "There is no user eve@example.com."),
                (["ada@example.com", "--since", "!"], "--since"),
                (["ada@example.com", "--collections", "castles"], "There is no such collection."),
                (["ada@example.com", "--collections", "houses,"], "--collections must name collections"),
            ] {
                let outcome = try await Self.run(service, arguments + ["--once"])
                #expect(outcome.status != 0 && outcome.errors.contains(text), "\(outcome)")
            }
            try await service.put("priorities/p", as: ada, #"{"data":{"name":"p"}}"#)
            let cursor = try await service.changes("", as: ada).cursor
            try await service.postgres.write("DELETE FROM role_members")
            let reset = try await Self.run(service, ["ada@example.com", "--since", cursor])
            #expect(reset.status == 1 && reset.errors.contains("This cursor no longer works (access)"), "\(reset)")
        }
    }
}
