import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfiePhotos

/// What counts as sent when another call changes the readers, and when a call is refused.
@Suite("Counts of sends", .timeLimit(.minutes(2)))
struct SendCountTests {
    private static let thread = "/api/records/threads/t"

    private static func settings(_ limit: Int) -> [String: String] {
        ["RATE_LIMITS": "on", "RATE_LIMIT_INBOX_SENDS_PER_USER": "\(limit)/10m", "TRUSTED_PROXIES": "1"]
    }

    private static func make(_ service: TestService, _ owner: TestMember, readers: [TestMember]) async throws {
        let ids = readers.map { "\"\($0.id)\"" }.joined(separator: ",")
        let made = try await service.call("PUT", thread, as: owner, #"{"data":{},"readers":[\#(ids)]}"#)
        #expect(made.status == 200, "\(made.text)")
    }

    private static func grantID(_ member: TestMember) -> PostgresQuery {
        "stream_id = (SELECT id FROM streams WHERE user_id = \(member.userID))"
    }

    /// Holds a call after its look-up of the readers, while a body changes them.
    private static func whileWaiting(
        _ service: TestService,
        _ call: @Sendable @escaping () async throws -> HTTPAnswer,
        change: (PostgresConnection) async throws -> Void
    ) async throws -> HTTPAnswer {
        try await withThrowingTaskGroup(of: HTTPAnswer.self) { tasks in
            try await service.postgres.withTransaction { connection in
                try await SchemaLock.takeAlone(on: connection)
                tasks.addTask { try await call() }
                try await service.waitForLocks(1)
                try await change(connection)
            }
            return try #require(try await tasks.next())
        }
    }

    @Test("A member who becomes a reader of a thread while a message waits gets it, too, and counts")
    func newReader() async throws {
        try await TestService.runWithSchema(
            settings: Self.settings(3),
            adjust: { $0.doesNothingByItself() }
        ) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cleo = try await service.addMember("cleo")
            try await Self.make(service, ada, readers: [bob])
            let sent = try await Self.whileWaiting(service) {
                try await service.call("PUT", "/api/records/messages/m", as: ada, #"{"data":{"threadId":"t"}}"#)
            } change: { connection in
                try await connection.execute(
                    """
                    INSERT INTO grants (stream_id, collection_id, record_key, rights)
                    SELECT streams.id, grants.collection_id, record_key, 1 FROM grants, streams
                    WHERE \(part: Self.grantID(bob)) AND streams.user_id = \(cleo.userID)
                    """
                )
            }
            #expect(sent.status == 200, "\(sent.text)")
            #expect(sent.json["readers"] as? [String] == [bob.id, cleo.id].sorted())
            // Bob counted with the thread, and both with the message.
            let full = try await service.call("POST", "/api/members/\(bob.id)/records/inbox", as: ada, #"{"data":{}}"#)
            #expect(full.status == 429)
        }
    }

    @Test("A client that was just refused is refused again without a statement", arguments: [true, false])
    func refusedInMemory(isMessage: Bool) async throws {
        try await TestService.runWithSchema(settings: Self.settings(1)) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = isMessage ? "/api/members/\(bob.id)/records/inbox" : "/api/records/threads"
            let body = isMessage ? #"{"data":{}}"# : #"{"data":{},"readers":["\#(bob.id)"]}"#
            #expect(try await service.call("POST", path, as: ada, body).status == 200)
            #expect(try await service.call("POST", path, as: ada, body).status == 429)
            try await service.postgres.withTransaction { connection in
                // Whoever counts anything waits for this lock, and then gets 503.
                try await connection.execute("LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE")
                #expect(try await service.call("POST", path, as: ada, body).status == 429)
            }
        }
    }

    @Test("A reader who is named again, and was removed while the call waits, counts as newly named")
    func lostReader() async throws {
        try await TestService.runWithSchema(
            settings: Self.settings(2),
            adjust: { $0.doesNothingByItself() }
        ) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.make(service, ada, readers: [bob])
            let named = try await Self.whileWaiting(service) {
                try await service.call("PATCH", Self.thread, as: ada, #"{"readers":["\#(bob.id)"]}"#)
            } change: { connection in
                try await connection.execute("UPDATE grants SET rights = 0 WHERE \(part: Self.grantID(bob))")
            }
            #expect(named.status == 200 && named.json["readers"] as? [String] == [bob.id], "\(named.text)")
            let full = try await service.call("POST", "/api/members/\(bob.id)/records/inbox", as: ada, #"{"data":{}}"#)
            #expect(full.status == 429)
        }
    }

    @Test("Only new readers count in the end: not refused ones, the author, or those who block the author")
    func surplus() async throws {
        try await TestService.runWithSchema(
            settings: Self.settings(2),
            adjust: { $0.doesNothingByItself() }
        ) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cleo = try await service.addMember("cleo")
            try await Self.make(service, ada, readers: [bob, ada])
            // One is left.
            let stale = [("If-Match", "\"9\"")]
            let names = #"{"readers":["\#(bob.id)","\#(cleo.id)"]}"#
            for _ in 0..<3 {
                let refused = try await service.call("PATCH", Self.thread, as: ada, names, headers: stale)
                #expect(refused.status == 412, "\(refused.text)")
            }
            // A message to Bob alone, since Cleo has blocked Ada.
            try await service.postgres.write(
                """
                INSERT INTO grants (stream_id, collection_id, record_key, rights)
                SELECT streams.id, grants.collection_id, record_key, 1 FROM grants, streams
                WHERE \(part: Self.grantID(bob)) AND streams.user_id = \(cleo.userID)
                """
            )
            #expect(try await service.call("PUT", "/api/blocks/\(ada.id)", as: cleo).status == 200)
            let message = #"{"data":{"threadId":"t"}}"#
            let tooMany = try await service.call("POST", "/api/records/messages", as: ada, message)
            #expect(tooMany.status == 429, "\(tooMany.text)")
            try await service.postgres.write("UPDATE rate_limits SET count = 0")
            for expected in [200, 429] {
                let sent = try await service.call("POST", "/api/records/messages", as: ada, message)
                #expect(sent.status == expected, "\(sent.text)")
            }
        }
    }

    @Test("A member without sends left learns nothing of the readers of a record that others share")
    func nothingDisclosed() async throws {
        try await TestService.runWithSchema(
            settings: Self.settings(1),
            adjust: { $0.doesNothingByItself() }
        ) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let (cleo, eve) = (try await service.addMember("cleo"), try await service.addMember("eve"))
            let shared = #"{"data":{},"writers":["\#(eve.id)"]}"#
            try await Self.make(service, ada, readers: [bob])
            #expect(try await service.call("PUT", "/api/records/threads/w", as: cleo, shared).status == 200)
            let inbox = "/api/members/\(ada.id)/records/inbox"
            #expect(try await service.call("POST", inbox, as: eve, #"{"data":{}}"#).status == 200)
            for path in ["t", "w", "nothing"] {
                for member in [bob, cleo] {
                    let body = #"{"readers":["\#(member.id)"]}"#
                    let refused = try await service.call("PATCH", "/api/records/threads/\(path)", as: eve, body)
                    #expect(refused.status == 429, "\(path) \(member.name) \(refused.text)")
                }
            }
        }
    }
}
