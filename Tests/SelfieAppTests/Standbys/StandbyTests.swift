import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Reads from a standby", .timeLimit(.minutes(3)))
struct StandbyTests {
    private static func threads(_ service: TestService, _ member: TestMember) async throws -> [String] {
        let answer = try await service.call("GET", "/api/records/threads", as: member)
        #expect(answer.status == 200, "\(answer.text)")
        return (answer.json["records"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }

    /// A thread that two members read.
    private static func addThread(_ id: String, by bob: TestMember, for ada: TestMember, _ service: TestService)
        async throws
    {
        try await service.put("threads/\(id)", as: bob, #"{"data":{},"readers":["\#(ada.id)"]}"#)
    }

    @Test("A session sees its own writes at once, and those of others when the standby has them")
    func ownWrites() async throws {
        try await TestService.runWithStandby { service, standby, cluster in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.addThread("first", by: bob, for: ada, service)
            try await standby.catchUpWithHeartbeat(of: cluster)
            try await standby.pauseReplay()
            try await Self.addThread("second", by: bob, for: ada, service)
            // It comes from the standby: on the primary there are two, which answers when the standby is slow.
            try await poll("the standby answers") { try await Self.threads(service, ada) == ["first"] }
            try await poll("the standby answers") {
                try await service.call("GET", "/api/records/threads/second", as: ada).status == 404
            }
            #expect(try await Self.threads(service, bob) == ["first", "second"])
            #expect(try await service.call("GET", "/api/records/threads/second", as: bob).status == 200)
            try await service.put("threads/own", as: ada, #"{"data":{}}"#)
            #expect(try await Self.threads(service, ada) == ["first", "second", "own"])
            // From now on, the primary answers until the standby has the write.
            try await Self.addThread("third", by: bob, for: ada, service)
            #expect(try await Self.threads(service, ada) == ["first", "second", "own", "third"])
            try await standby.resumeReplay()
            try await standby.catchUp(with: cluster)
            try await standby.pauseReplay()
            try await Self.addThread("fourth", by: bob, for: ada, service)
            let before = ["first", "second", "own", "third"]
            try await poll("the standby answers") { try await Self.threads(service, ada) == before }
            // A refused call has written nothing.
            #expect(try await service.call("PUT", "/api/records/threads/x", as: ada, #"{"data":1}"#).status >= 400)
            try await poll("the standby answers") { try await Self.threads(service, ada) == before }
            #expect(try await service.call("DELETE", "/api/records/threads/own", as: ada).status == 200)
            #expect(try await Self.threads(service, ada) == ["first", "second", "third", "fourth"])
            try await standby.resumeReplay()
        }
    }

    @Test("A new session, which the standby does not know yet, is answered")
    func newSession() async throws {
        try await TestService.runWithStandby { service, standby, cluster in
            try await standby.catchUpWithHeartbeat(of: cluster)
            try await standby.pauseReplay()
            let token = try await service.makeToken()
            #expect(try await service.list(token: token).jsonArray?.isEmpty == true)
            let records = try await service.send(
                "GET",
                "/api/records/houses",
                headers: [("Authorization", "Bearer \(token)")]
            )
            #expect(records.status == 200)
            try await standby.resumeReplay()
        }
    }

    @Test("A list of photos has what any session of the user has uploaded or deleted")
    func photos() async throws {
        try await TestService.runWithStandby { service, standby, cluster in
            let phone = try await service.makeToken()
            let signIn = try await service.signIn(email: "ada@example.com")
            let tablet = try #require(signIn.json["api_authtoken"] as? String)
            #expect(try await service.upload(token: phone, title: "1").status == 200)
            try await standby.catchUpWithHeartbeat(of: cluster)
            // From the standby.
            #expect(try await service.list(token: tablet).jsonArray?.count == 1)
            try await standby.pauseReplay()
            #expect(try await service.upload(token: phone, title: "2").status == 200)
            #expect(try await service.list(token: phone).jsonArray?.count == 2)
            #expect(try await service.list(token: tablet).jsonArray?.count == 2)
            let first = try #require(try await service.list(token: tablet).jsonArray?.first?["random_id"] as? String)
            #expect(try await service.delete(first, token: phone).status == 200)
            #expect(try await service.list(token: tablet).jsonArray?.count == 1)
            try await standby.resumeReplay()
        }
    }

    @Test("A list of photos has what a command has changed in them, although no session has written it")
    func changedPhotos() async throws {
        try await TestService.runWithStandby { service, standby, cluster in
            let token = try await service.makeToken()
            #expect(try await service.upload(token: token).status == 200)
            try await service.postgres.write("UPDATE photos SET width = NULL, height = NULL")
            try await standby.catchUpWithHeartbeat(of: cluster)
            func width() async throws -> Int? {
                try await service.list(token: token).jsonArray?.first?["width"] as? Int
            }
            #expect(try await width() == nil)
            try await standby.pauseReplay()
            // As `selfie photos measure` does it.
            try await service.postgres.write("UPDATE photos SET width = 640, height = 480")
            #expect(try await width() == 640)
            try await standby.resumeReplay()
            try await standby.catchUp(with: cluster)
            // From the cache.
            #expect(try await width() == 640)
        }
    }

    @Test("A standby that is too far behind is not asked, and neither is one without a heartbeat")
    func tooFarBehind() async throws {
        try await TestService.runWithStandby(heartbeatInterval: .seconds(3600)) { service, standby, cluster in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await standby.catchUpWithHeartbeat(of: cluster)
            for (age, fromStandby) in [(0, true), (50, true), (70, false)] {
                try await service.postgres.write(
                    "UPDATE replication_heartbeat SET beaten_at = now() - make_interval(secs => \(age)::integer)"
                )
                try await standby.catchUp(with: cluster)
                let before = try await Self.threads(service, ada)
                try await standby.pauseReplay()
                try await Self.addThread("thread-\(age)", by: bob, for: ada, service)
                if fromStandby {
                    try await poll("the standby answers") { try await Self.threads(service, ada) == before }
                } else {
                    #expect(try await Self.threads(service, ada) == before + ["thread-\(age)"])
                }
                try await standby.resumeReplay()
                try await standby.catchUp(with: cluster)
            }
            try await service.postgres.write("DELETE FROM replication_heartbeat")
            try await standby.catchUp(with: cluster)
            try await standby.pauseReplay()
            try await Self.addThread("last", by: bob, for: ada, service)
            #expect(try await Self.threads(service, ada).last == "last")
            try await standby.resumeReplay()
        }
    }

    @Test("A standby that dies costs no error, and is asked again when it is back")
    func death() async throws {
        try await TestService.runWithStandby { service, standby, cluster in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.addThread("first", by: bob, for: ada, service)
            try await standby.catchUpWithHeartbeat(of: cluster)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<4 {
                    tasks.addTask {
                        for _ in 0..<50 {
                            let threads = try await Self.threads(service, ada)
                            #expect(threads == ["first"])
                        }
                    }
                }
                try await standby.stop()
                try await tasks.waitForAll()
            }
            try await Self.addThread("second", by: bob, for: ada, service)
            #expect(try await Self.threads(service, ada) == ["first", "second"])
            try await standby.start()
            try await standby.catchUp(with: cluster)
            try await standby.pauseReplay()
            try await Self.addThread("third", by: bob, for: ada, service)
            try await poll("the standby answers") { try await Self.threads(service, ada) == ["first", "second"] }
            try await standby.resumeReplay()
        }
    }

    @Test("A schema that the standby does not have yet is the newest one all the same")
    func schema() async throws {
        try await TestService.runWithStandby { service, standby, cluster in
            let ada = try await service.addMember("ada")
            try await standby.catchUpWithHeartbeat(of: cluster)
            #expect(try await Self.threads(service, ada).isEmpty)
            try await standby.pauseReplay()
            try await service.apply(#"{"collections":{"threads":{"access":"acl"},"notes":{"access":"private"}}}"#)
            #expect(try await service.call("GET", "/api/records/notes", as: ada).status == 200)
            #expect(try await Self.threads(service, ada).isEmpty)
            try await standby.resumeReplay()
        }
    }

    @Test("Among many writes and reads at once, no session misses its own")
    func storm() async throws {
        try await OwnCluster.use { cluster in
            try await cluster.withStandby(delayedBy: .milliseconds(200)) { standby in
                try await TestService.run(
                    databaseURL: cluster.url,
                    settings: ["RATE_LIMITS": "off", "DATABASE_URL_READ": standby.url],
                    adjust: { $0.heartbeatInterval = .milliseconds(100) },
                    { service in
                        try await service.apply(try TestService.exampleSchema)
                        try await standby.catchUpWithHeartbeat(of: cluster)
                        try await withThrowingTaskGroup(of: Void.self) { tasks in
                            for number in 0..<8 {
                                tasks.addTask { try await Self.writeAndRead(service, "member\(number)") }
                            }
                            try await tasks.waitForAll()
                        }
                    }
                )
            }
        }
    }

    private static func writeAndRead(_ service: TestService, _ name: String) async throws {
        let member = try await service.addMember(name)
        var written: [String] = []
        for number in 0..<15 {
            try await service.put("threads/\(name)-\(number)", as: member, #"{"data":{}}"#)
            written.append("\(name)-\(number)")
            for _ in 0..<3 { #expect(try await threads(service, member) == written) }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60)))
        }
    }
}
