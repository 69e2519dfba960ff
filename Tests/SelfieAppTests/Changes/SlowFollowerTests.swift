import Budgets
import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieRecords

/// A client that is behind: it asks for the next event when the test wants it to.
@Suite("Followers that are behind", .timeLimit(.minutes(3)))
struct SlowFollowerTests {
    @Test("A reader who loses a role gets neither the changes still to be sent nor later ones")
    func lostRole() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let owner = try await service.addMember("owner", role: "team")
            let lead = try await service.addMember("lead", role: "leads")
            let follow = FollowChanges(postgres: service.postgres)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await follow.hub.run() }
                let follower = try await follow.follower(of: ada)
                guard case .synced = try await follower.nextEvent() else { throw Unexpected(description: "not synced") }
                for number in 0..<4 {
                    try await service.put("priorities/p\(number)", as: owner, #"{"data":{"name":"before"}}"#)
                }
                guard case .changes(let first) = try await follower.nextEvent() else {
                    throw Unexpected(description: "no change")
                }
                #expect(first.changes.map(\.id) == ["p0"])
                // Another client of the same user gets the loss: so has the first.
                let other = try await follow.follower(of: ada)
                while case .changes = try await other.nextEvent() {}
                let path = "/api/roles/team/members/\(ada.id)"
                #expect(try await service.call("DELETE", path, as: lead).status == 200)
                guard case .reset(.access) = try await other.nextEvent() else {
                    throw Unexpected(description: "no reset")
                }
                try await service.put("priorities/marker", as: owner, #"{"data":{"name":"marker"}}"#)
                guard case .reset(.access) = try await follower.nextEvent() else {
                    throw Unexpected(description: "something came after the role was lost")
                }
                tasks.cancelAll()
            }
        }
    }

    @Test("A deletion reaches readers who have the record, even if one who never had it reads first")
    func deletion() async throws {
        try await TestService.runWithFollowers { service, follow, owner, _, followers in
            try await service.put("news/x", as: owner, #"{"data":{"title":"x"}}"#)
            let late = try await follow.follower(of: try await service.addMember("bob"))
            #expect(try await late.nextChanges().map(\.id) == ["x"])
            #expect(try await service.call("DELETE", "/api/records/news/x", as: owner).status == 200)
            try await service.put("news/y", as: owner, #"{"data":{"title":"y"}}"#)
            // The process has read both.
            while try await followers[1].nextChanges().last?.id != "y" {}
            #expect(try await followers[0].nextChanges().map(\.id) == ["y"])
            var seen: [String] = []
            while seen.count < 2 {
                switch try await late.nextEvent() {
                case .changes(let batch): seen += batch.changes.map { "\($0.kind) \($0.id)" }
                case .synced: continue
                default: throw Unexpected(description: "no change")
                }
            }
            #expect(seen == ["deleted x", "created y"])
        }
    }

    @Test("A reader who is behind gets a record once, as it is now, and not its earlier versions")
    func overwritten() async throws {
        try await TestService.runWithFollowers { service, _, owner, _, followers in
            for version in 1...2 {
                try await service.put("news/x", as: owner, #"{"data":{"title":"x"}}"#)
                #expect(try await followers[0].nextChanges().map(\.version) == [version])
            }
            #expect(try await followers[1].nextChanges().map(\.version) == [2])
        }
    }

    @Test("An expired record is not sent from the cache")
    func expired() async throws {
        try await TestService.runWithFollowers { service, _, owner, _, followers in
            let end = Date(timeIntervalSinceNow: 4).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            try await service.put("news/x", as: owner, #"{"data":{"title":"x"},"expires_at":"\#(end)"}"#)
            #expect(try await followers[0].nextChanges().map(\.id) == ["x"])
            try await Task.sleep(for: .seconds(4.1))
            try await service.put("news/y", as: owner, #"{"data":{"title":"y"}}"#)
            #expect(try await followers[1].nextChanges().map(\.id) == ["y"])
        }
    }

    @Test(
        "A reader of pages of one gets each change, and so does one who is behind the cache",
        arguments: [(3, 1), (30, 60_000)]
    )
    func behind(count: Int, bytes: Int) async throws {
        try await TestService.runWithFollowers { service, _, owner, _, followers in
            let (ids, title) = ((0..<count).map { "n\($0)" }, String(repeating: "x", count: bytes))
            for id in ids {
                try await service.put("news/\(id)", as: owner, #"{"data":{"title":"\#(title)"}}"#)
                #expect(try await followers[0].nextChanges().map(\.id) == [id])
            }
            var seen: [String] = []
            while seen.last != ids.last { seen += try await followers[1].nextChanges().map(\.id) }
            #expect(seen == ids)
        }
    }

    @Test("What many share comes in batches of at most 64 KiB, too")
    func sharedBatch() async throws {
        try await TestService.runWithFollowers(limit: 500) { service, _, owner, _, followers in
            let title = String(repeating: "x", count: 40_000)
            // No reader reads alone any more, as new ones do.
            try await service.put("news/first", as: owner, #"{"data":{"title":"x"}}"#)
            for follower in followers { #expect(try await follower.nextChanges().map(\.id) == ["first"]) }
            for id in ["n1", "n2", "n3"] {
                try await service.put("news/\(id)", as: owner, #"{"data":{"title":"\#(title)"}}"#)
                #expect(try await followers[0].nextChanges().map(\.id) == [id])
            }
            for id in ["n1", "n2", "n3"] { #expect(try await followers[1].nextChanges().map(\.id) == [id]) }
        }
    }

    @Test("A reader who has received the present state gets `synced`, even if changes keep coming")
    func synced() async throws {
        try await TestService.runWithFollowers { service, follow, _, ada, followers in
            for number in 0..<3 { try await service.put("houses/h\(number)", as: ada, #"{"data":{"address":"a"}}"#) }
            let late = try await follow.follower(of: ada, limit: 500)
            #expect(try await late.nextChanges().count == 3)
            try await service.put("houses/h3", as: ada, #"{"data":{"address":"a"}}"#)
            // The process has read it.
            for _ in 0..<4 { _ = try await followers[0].nextChanges() }
            guard case .synced = try await late.nextEvent() else { throw Unexpected(description: "not synced") }
            #expect(try await late.nextChanges().map(\.id) == ["h3"])
        }
    }

    @Test("Continuous notifications do not stop reading")
    func notifying() async throws {
        try await TestService.runWithFollowers { service, _, owner, _, followers in
            let stream = try await service.count(
                "SELECT streams.id AS count FROM streams JOIN collections ON collections.id = collection_id WHERE name = 'news'"
            )
            let notifier = ChangeNotifier(postgres: service.postgres)
            let notifying = Task {
                while !Task.isCancelled {
                    notifier.notify([.stream(stream)])
                    try await Task.sleep(for: .microseconds(200))
                }
            }
            defer { notifying.cancel() }
            for number in 0..<20 {
                try await service.put("news/n\(number)", as: owner, #"{"data":{"title":"x"}}"#)
                #expect(try await followers[0].nextChanges().map(\.id) == ["n\(number)"])
            }
        }
    }

    @Test("A batch is at most 64 KiB, also of photos")
    func batch() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for _ in 0..<3 {
                try await service.put(
                    "houses/h\(Int.random(in: 0..<1_000_000))",
                    as: ada,
                    #"{"data":{"address":"\#(String(repeating: "a", count: 40_000))"}}"#
                )
            }
            let follow = FollowChanges(postgres: service.postgres)
            let session = try #require(try await SessionStore(postgres: service.postgres).find(token: ada.token))
            let query = ChangeQuery(collections: nil, limit: 500, maxBytes: ChangeQuery.maxBatchBytes)
            let follower = follow(query, from: .beginning, of: ada.userID, session: session, for: .seconds(60))
            for _ in 0..<3 { #expect(try await follower.nextChanges().count == 1) }
            try await service.addRows(200)
            let photos = follow(query, from: .beginning, of: ada.userID, session: session, for: .seconds(60))
            var counts: [Int] = []
            while counts.reduce(0, +) < 203 { counts.append(try await photos.nextChanges().count) }
            #expect(counts.max() ?? 0 <= 128)
        }
    }

    @Test("A process that ends does not wait until all is sent")
    func restart() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for number in 0..<4 { try await service.put("houses/h\(number)", as: ada, #"{"data":{"address":"a"}}"#) }
            let follow = FollowChanges(postgres: service.postgres)
            let follower = try await follow.follower(of: ada)
            guard case .changes = try await follower.nextEvent() else { throw Unexpected(description: "no change") }
            follow.hub.stop()
            guard case .end(.restart) = try await follower.nextEvent() else {
                throw Unexpected(description: "it goes on")
            }
        }
    }

    @Test("A process that ends does not wait for a reader in line")
    func restartInLine() async throws {
        try await TestService.runWithFollowers { service, follow, _, ada, followers in
            var held: [FairSemaphore.Permit] = []
            for _ in 0..<2 {
                held.append(try await follow.hub.readings.acquire(for: FairSemaphore.Caller(group: "")))
            }
            ChangeNotifier(postgres: service.postgres).notify([.user(ada.userID)])
            let stopping = Task { [held] in
                try await poll("a reader in line") { follow.hub.readings.waitingCount == 1 }
                follow.hub.stop()
                withExtendedLifetime(held) {}
            }
            held = []
            guard case .end(.restart) = try await followers[0].nextEvent() else {
                throw Unexpected(description: "it goes on")
            }
            try await stopping.value
        }
    }

    @Test("A stopping process answers clients that wait for a page")
    func restartOfPage() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let session = try #require(try await SessionStore(postgres: service.postgres).find(token: ada.token))
            let follow = FollowChanges(postgres: service.postgres)
            // For a day, so that nothing but the end of the process ends it.
            async let page = follow.page(ChangeQuery(collections: nil), from: .now, by: session, waiting: 86_400)
            try await poll("it waits") { follow.hub.listenerCount == 1 }
            follow.hub.stop()
            #expect(try await page.changes.isEmpty)
        }
    }
}
