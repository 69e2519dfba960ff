import ClientTestSupport
import ConnectionTestSupport
import Foundation
import SelfieClient
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's records")
struct RecordTests {
    @Test("Lists have conditions, an order, pages, a number, and what records refer to", .timeLimit(.minutes(1)))
    func lists() async throws {
        try await Self.run { ada, _ in
            let (priorities, bugs): (Records<Priority>, Records<BugReport>) = (ada.records(), ada.records())
            try await priorities.create(Priority(name: "high"), id: "p1")
            let made = try await bugs.create(
                contentsOf: (0..<5).map { BugReport(title: "\($0)", points: $0, priority: $0 < 3 ? "p1" : nil) }
            )
            #expect(made.map(\.fields.title) == ["0", "1", "2", "3", "4"])
            let high = RecordFilter.equal("priority", "p1")
            let first = try await bugs.page(where: [high], order: .newestFirst, limit: 2, include: ["priority"])
            #expect(first.records.map(\.fields.title) == ["2", "1"])
            #expect(first.included("p1", as: Priority.self)?.fields == Priority(name: "high"))
            #expect(first.included("p1", as: BugReport.self) == nil)
            let second = try await bugs.page(where: [high], order: .newestFirst, after: first.next, limit: 2)
            #expect(second.records.map(\.fields.title) == ["0"] && second.next == nil)
            #expect(
                try await bugs.all(order: .newestFirst, pageSize: 2).collect().map(\.fields.title)
                    == ["4", "3", "2", "1", "0"]
            )
            let count = try await bugs.count(where: [high])
            #expect(count.count == 3 && !count.isLimited)
            await #expect(throws: SelfieError.self) { try await bugs.page(where: [.equal("points", 1)]) }
            await #expect(throws: SelfieError.self) { try await bugs.page(where: [high, .equal("priority", "p2")]) }
            #expect(try await bugs.find("nothing") == nil)
        }
    }

    @Test("Of changes at the same time, none is lost", .timeLimit(.minutes(1)))
    func conflicts() async throws {
        try await Self.run { ada, bob in
            let (hers, his): (Records<BugReport>, Records<BugReport>) = (ada.records(), bob.records())
            var bug = try await hers.create(BugReport(title: "a", points: 0), id: "b1")
            await #expect(throws: SelfieError.self) { try await hers.create(BugReport(title: "other"), id: "b1") }
            try await his.save(BugReport(title: "b", points: 0), id: "b1")
            bug.fields.title = "c"
            do {
                try await hers.update(bug)
                Issue.record("It has changed.")
            } catch SelfieError.versionDiffers(let refusal) {
                #expect(refusal.status == 412)
            }
            await #expect(throws: SelfieError.self) { try await hers.delete("b1", version: bug.version) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for records in [hers, his, hers, his] {
                    group.addTask { try await records.modify("b1") { $0.points = ($0.points ?? 0) + 1 } }
                }
                try await group.waitForAll()
            }
            let now = try await hers.record("b1")
            #expect(now.fields == BugReport(title: "b", points: 4) && now.version == 6)
            try await hers.delete("b1", version: 6)
            try await his.delete("b1")
            #expect(try await his.find("b1") == nil)
        }
    }

    @Test(
        "A write whose request or answer is lost is done once",
        .timeLimit(.minutes(1)),
        arguments: ConnectionRelay.Loss.allCases
    )
    func losses(loss: ConnectionRelay.Loss) async throws {
        try await Self.runBehindRelay { relay, client in
            let bugs: Records<BugReport> = client.selfie.records()
            for number in 0..<3 {
                #expect(try await bugs.find("b\(number)") == nil)
                relay.lose(loss)
                var bug = try await bugs.create(BugReport(title: "\(number)"), id: "b\(number)")
                #expect(bug.version == 1 && !relay.isLossAwaited)
                relay.lose(loss)
                bug.fields.title += " again"
                #expect(try await bugs.update(bug).version == 2)
                #expect(!relay.isLossAwaited)
            }
            let all = try await bugs.all().collect()
            #expect(all.map(\.fields.title) == ["0 again", "1 again", "2 again"] && all.allSatisfy { $0.version == 2 })
        }
    }

    @Test(
        "A call that may not be repeated is sent once, and its loss is noticed at once",
        .timeLimit(.minutes(1)),
        arguments: ConnectionRelay.Loss.allCases
    )
    func lossOfSingleCall(loss: ConnectionRelay.Loss) async throws {
        try await Self.runBehindRelay { relay, client in
            let bugs: Records<BugReport> = client.selfie.records()
            // Now there is a connection that could be used again.
            _ = try await bugs.find("b1")
            relay.lose(loss)
            await #expect(throws: SelfieError.interrupted) {
                try await bugs.create(contentsOf: [BugReport(title: "a")])
            }
            #expect(!relay.isLossAwaited)
            #expect(try await bugs.all().collect().map(\.fields.title) == (loss == .answer ? ["a"] : []))
            // A request that was sent again without its body is refused with 408 after a while.
            let log = client.log.text
            #expect(log.contains(#""status": "interrupted""#) && !log.contains(#""status": "408""#))
        }
    }

    @Test("A message in an inbox can be sent again, and tells who wrote it", .timeLimit(.minutes(1)))
    func inbox() async throws {
        try await Self.run { ada, bob in
            let (adaID, bobID) = (try #require(try ada.userID), try #require(try bob.userID))
            let inbox = ada.inbox(of: bobID, Letter.self)
            for _ in 0..<2 { try await inbox.create(Letter(text: "Hello"), id: "l1") }
            await #expect(throws: SelfieError.self) { try await inbox.create(Letter(text: "Other"), id: "l1") }
            let letters = try await bob.records(Letter.self).all().collect()
            #expect(letters.map(\.fields.text) == ["Hello"] && letters.map(\.owner) == [adaID])
            #expect(try await bob.member(adaID).firstName == "Ada")
            try await bob.block(adaID)
            #expect(try await bob.blocks() == [adaID])
            await #expect(throws: SelfieError.self) { try await inbox.create(Letter(text: "Again"), id: "l2") }
            try await bob.unblock(adaID)
            try await inbox.create(Letter(text: "Again"), id: "l2")
        }
    }

    /// Runs a body with a member of a team, who reaches the service through a relay.
    private static func runBehindRelay(
        _ body: @Sendable (ConnectionRelay, TestClient) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let relay = try await ConnectionRelay.start(target: service.port)
            try await TemporaryFolder.with { folder in
                try await body(relay, TestClient(service, folder: folder, port: relay.port, as: ada))
            }
            try await relay.close()
        }
    }

    /// Runs a body with two members of a team.
    private static func run(_ body: @Sendable (_ ada: Selfie, _ bob: Selfie) async throws -> Void) async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            try await TemporaryFolder.with { folder in
                try await body(
                    TestClient(service, folder: folder.appending(path: "ada"), as: ada).selfie,
                    TestClient(service, folder: folder.appending(path: "bob"), as: bob).selfie
                )
            }
        }
    }
}
