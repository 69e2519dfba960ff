import ConnectionTestSupport
import ServiceTestSupport
import Testing

@Suite("Leaving a record", .timeLimit(.minutes(3)))
struct LeavingTests {
    private static let thread = "/api/records/threads/t"

    private struct Scene {
        let service: TestService
        let (ada, bob, cleo): (TestMember, TestMember, TestMember)
        var cursors: [String: String] = [:]

        init(_ service: TestService) async throws {
            self.service = service
            (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            cleo = try await service.addMember("cleo")
            let body = #"{"data":{},"readers":["\#(bob.id)","\#(cleo.id)"]}"#
            #expect(try await service.call("PUT", LeavingTests.thread, as: ada, body).status == 200)
            for member in [ada, bob, cleo] {
                let page = try await service.call("GET", "/api/changes?since=now", as: member)
                cursors[member.name] = page.json["cursor"] as? String
            }
        }

        /// The kinds and ids of changes since the scene began.
        func changes(_ member: TestMember) async throws -> [String] {
            let cursor = try #require(cursors[member.name])
            let page = try await service.call("GET", "/api/changes?since=\(cursor)", as: member)
            let changes = try #require(page.json["changes"] as? [[String: Any]])
            return changes.map { "\($0["type"] ?? "") \($0["id"] ?? "")" }
        }
    }

    @Test("A reader's deletion removes the record for that reader, and changes nothing for the others")
    func leaving() async throws {
        try await TestService.runWithSchema { service in
            let scene = try await Scene(service)
            let data = #"{"data":{"threadId":"t","text":"x"}}"#
            #expect(try await service.call("PUT", "/api/records/messages/m", as: scene.ada, data).status == 200)
            let old = try await service.call("DELETE", Self.thread, as: scene.bob, headers: [("If-Match", "\"9\"")])
            #expect(old.status == 412)
            let left = try await service.call("DELETE", Self.thread, as: scene.bob)
            #expect(left.status == 200 && left.json["deleted"] as? Int == 1)
            #expect(try await service.call("GET", Self.thread, as: scene.bob).status == 404)
            #expect(try await service.ids("threads", as: scene.bob).isEmpty)
            let changes = try await scene.changes(scene.bob)
            #expect(changes.filter { $0.hasSuffix(" t") } == ["deleted t"], "\(changes)")
            for member in [scene.ada, scene.cleo] {
                let seen = try await service.call("GET", Self.thread, as: member)
                #expect(seen.data["lastMessage"] as? String == "m", "\(seen.text)")
            }
            try await service.expectSoundStreams()
        }
    }

    @Test("The owner gets a change and can't add the reader again by mistake; other readers get none")
    func owner() async throws {
        try await TestService.runWithSchema { service in
            let scene = try await Scene(service)
            let before = try await service.call("GET", Self.thread, as: scene.ada)
            let tag = try #require(before.headers["etag"])
            #expect(try await service.call("DELETE", Self.thread, as: scene.bob).status == 200)
            let kept = try await service.call("GET", Self.thread, as: scene.ada, headers: [("If-None-Match", tag)])
            #expect(kept.status == 200 && kept.json["readers"] as? [String] == [scene.cleo.id], "\(kept.text)")
            let back = #"{"data":{},"readers":["\#(scene.bob.id)","\#(scene.cleo.id)"]}"#
            let stale = try await service.call("PUT", Self.thread, as: scene.ada, back, headers: [("If-Match", tag)])
            #expect(stale.status == 412)
            #expect(try await service.call("GET", Self.thread, as: scene.bob).status == 404)
            #expect(try await scene.changes(scene.ada) == ["updated t"])
            #expect(try await scene.changes(scene.cleo).isEmpty)
            try await service.expectSoundStreams()
        }
    }

    @Test("A writer can't leave")
    func writer() async throws {
        try await TestService.runWithSchema { service in
            let scene = try await Scene(service)
            let writers = #"{"writers":["\#(scene.bob.id)"]}"#
            #expect(try await service.call("PATCH", Self.thread, as: scene.ada, writers).status == 200)
            let refused = try await service.call("DELETE", Self.thread, as: scene.bob)
            #expect(refused.status == 403 && refused.code == "record_forbidden", "\(refused.text)")
            #expect(try await service.call("GET", Self.thread, as: scene.bob).status == 200)
        }
    }
}
