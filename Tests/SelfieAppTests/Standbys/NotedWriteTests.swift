import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import SelfieWeb
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("Writes that a standby must have", .timeLimit(.minutes(3)))
struct NotedWriteTests {
    /// Runs a body with a service whose standby is its own database, as between the two rounds that turn standbys on.
    private static func runOnPrimary(
        _ schema: String,
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestCluster.withDatabase { url in
            try await TestService.run(databaseURL: url, settings: ["DATABASE_URL_READ": url]) { service in
                try await service.apply(schema)
                try await body(service)
            }
        }
    }

    /// The version of a thread as a member gets it; nil if there is none.
    private static func version(_ id: String, _ service: TestService, _ member: TestMember) async throws -> Int? {
        try await service.call("GET", "/api/records/threads/\(id)", as: member).json["version"] as? Int
    }

    /// Creates or replaces a record, and gives the status, whatever it is.
    private static func put(_ path: String, _ service: TestService, _ member: TestMember, _ body: String) async throws
        -> Int
    {
        try await service.send(
            "PUT",
            "/api/records/\(path)",
            headers: [("Authorization", "Bearer \(member.token)"), ("Content-Type", "application/json")],
            body: Data(body.utf8)
        ).status
    }

    /// A member for each refusal: after the first one, the primary answers.
    @Test("After 404, 409 and 412, a session reads what it was refused for")
    func conflicts() async throws {
        try await TestService.runWithStandby { service, standby, cluster in
            let (bob, ada) = (try await service.addMember("bob"), try await service.addMember("ada"))
            let (carol, dora) = (try await service.addMember("carol"), try await service.addMember("dora"))
            let readers = #""readers":["\#(ada.id)","\#(carol.id)","\#(dora.id)"]"#
            for id in ["changed", "deleted"] {
                let body = #"{"data":{},\#(readers),"writers":["\#(ada.id)"]}"#
                try await service.put("threads/\(id)", as: bob, body)
            }
            try await standby.catchUpWithHeartbeat(of: cluster)
            try await standby.pauseReplay()
            try await service.put("threads/changed", as: bob, #"{"data":{"title":"new"}}"#)
            #expect(try await service.call("DELETE", "/api/records/threads/deleted", as: bob).status == 200)
            try await service.put("threads/taken", as: bob, #"{"data":{},\#(readers)}"#)

            #expect(try await Self.version("changed", service, ada) == 1)
            let change = try await service.call(
                "PUT",
                "/api/records/threads/changed",
                as: ada,
                #"{"data":{}}"#,
                headers: [("If-Match", #""1""#)]
            )
            #expect(change.status == 412)
            #expect(try await Self.version("changed", service, ada) == 2)

            #expect(try await Self.version("deleted", service, carol) == 1)
            #expect(try await service.call("DELETE", "/api/records/threads/deleted", as: carol).status == 404)
            #expect(try await Self.version("deleted", service, carol) == nil)

            #expect(try await Self.version("taken", service, dora) == nil)
            let creation = #"{"id":"taken","data":{}}"#
            #expect(try await service.call("POST", "/api/records/threads", as: dora, creation).status == 409)
            #expect(try await Self.version("taken", service, dora) == 1)
            try await standby.resumeReplay()
        }
    }

    @Test("After a commit whose answer was lost, a session reads what it has written")
    func lostAnswer() async throws {
        let adjust: @Sendable (inout SelfieService) -> Void = { service in
            service.doesNothingByItself()
            service.permits.maxNoteTime = .seconds(3600)
        }
        try await TestService.runWithStandby(adjust: adjust) { service, standby, cluster in
            let ada = try await service.addMember("ada")
            try await service.postgres.write("INSERT INTO replication_heartbeat (beaten_at) VALUES (now())")
            try await standby.catchUp(with: cluster)
            try await standby.pauseReplay()
            // From now on, a commit waits until the standby has replayed it.
            try await cluster.set("synchronous_commit", "remote_apply")
            try await cluster.set("synchronous_standby_names", "standby")
            try await poll("the server asks for the standby") {
                try await service.postgres.read("SHOW synchronous_standby_names")[0].decode("synchronous_standby_names")
                    == "standby"
            }
            let write = Task { try await Self.put("threads/lost", service, ada, #"{"data":{}}"#) }
            try await poll("the write waits") { try await Self.waitingCount("COMMIT", service) == 1 }
            // It is in effect then. The service gets a warning, which it takes for a lost connection.
            _ = try await service.postgres.read(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            )
            try await poll("the note waits") { try await Self.waitingCount("UPDATE sessions", service) == 1 }
            try await cluster.set("synchronous_standby_names", "")
            #expect(try await write.value == 503)
            #expect(try await Self.version("lost", service, ada) == 1)
            try await standby.resumeReplay()
        }
    }

    /// How many statements that begin so wait for the standby.
    private static func waitingCount(_ beginning: String, _ service: TestService) async throws -> Int {
        try await service.count(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event = 'SyncRep' AND starts_with(query, \(beginning))
            """
        )
    }

    @Test("Writes with a token, by DreamFactory's routes and with the gallery's cookie are noted, and reads are not")
    func credentials() async throws {
        try await Self.runOnPrimary(try TestService.bugTracker) { service in
            let token = try await service.makeToken()
            let ada = TestMember(name: "ada", token: token, id: "")
            let notes: @Sendable () async throws -> Int = {
                try await service.count("SELECT write_count AS count FROM sessions")
            }
            #expect(try await notes() == 0)
            let severity = #"{"data":{"name":"Crash"}}"#
            #expect(try await service.call("POST", "/api/records/severities", as: ada, severity).status == 200)
            #expect(try await notes() == 1)
            let created = try await service.rest("POST", "/db/severities", as: ada, #"{"name":"Freeze"}"#)
            #expect(created.status == 200, "\(created.text)")
            #expect(try await notes() == 2)
            #expect(try await service.uploadByGallery(cookie: "selfie=\(token)").status == 200)
            #expect(try await notes() == 3)
            #expect(try await service.call("GET", "/api/records/severities", as: ada).records.count == 2)
            #expect(try await service.rest("GET", "/db/severities", as: ada).rowIDs.count == 2)
            #expect(try await service.list(token: token).jsonArray?.count == 1)
            #expect(try await notes() == 3)
        }
    }

    @Test("A write that can't be noted is answered with 503, although it is made")
    func failedNote() async throws {
        try await Self.runOnPrimary(try TestService.exampleSchema) { service in
            let ada = try await service.addMember("ada")
            let house = #"{"data":{"address":"a"}}"#
            try await service.postgres.write(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'disk_full'; END$$
                """
            )
            try await service.postgres.write(
                """
                CREATE TRIGGER refused BEFORE UPDATE OF write_count ON sessions FOR EACH ROW EXECUTE FUNCTION refuse()
                """
            )
            #expect(try await Self.put("houses/first", service, ada, house) == 503)
            #expect(try await service.count("SELECT count(*) FROM records") == 1)
            try await service.postgres.write("DROP TRIGGER refused ON sessions")
            #expect(try await Self.put("houses/first", service, ada, house) == 200)
            #expect(try await service.count("SELECT count(*) FROM records") == 1)
        }
    }
}
