import ConnectionTestSupport
import Foundation
import Glibc
import Logging
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieRecords

@Suite("Limits of streams", .timeLimit(.minutes(2)))
struct StreamLimitTests {
    @Test("A user has ten streams at once, and others have theirs")
    func permits() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.open(Array(repeating: ada, count: 10), service) {
                let refused = try await service.call(
                    "GET",
                    "/api/changes",
                    as: ada,
                    headers: [("Accept", "text/event-stream")]
                )
                #expect(refused.status == 429 && refused.code == "too_many_at_once", "\(refused.text)")
                #expect(try await service.changes("?wait=1", as: ada).status == 429)
                #expect(try await service.changes("", as: ada).status == 200)
                try await EventClient.open(service, as: bob) { client in
                    _ = try await client.summaries(until: "synced")
                }
            }
            try await poll("permits are free again") {
                try await service.changes("?since=now&wait=1", as: ada).status == 200
            }
        }
    }

    @Test("A process leaves a quarter of its connections to calls")
    func process() async throws {
        let settings = ["CONNECTIONS_MAX": "32", "CONNECTIONS_PER_ADDRESS_MAX": "32", "RATE_LIMITS": "off"]
        try await TestService.runWithSchema(settings: settings) { service in
            var members: [TestMember] = []
            for number in 0..<25 { members.append(try await service.addMember("m\(number)")) }
            let (others, last) = (Array(members.dropLast()), try #require(members.last))
            try await Self.open(others, service) {
                let token = ("Authorization", "Bearer \(last.token)")
                for (path, accept) in [("/api/changes", "text/event-stream"), ("/api/changes?wait=1", "*/*")] {
                    let refused = try await service.send("GET", path, headers: [token, ("Accept", accept)])
                    #expect(refused.status == 503 && refused.headers["retry-after"] != nil, "\(refused.text)")
                }
                #expect(try await service.changes("", as: last).status == 200)
            }
        }
    }

    /// Opens a stream for each of some members, one within the other.
    private static func open(
        _ members: [TestMember],
        _ service: TestService,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        guard let member = members.first else { return try await body() }
        try await EventClient.open(service, as: member) { client in
            _ = try await client.summaries(until: "synced")
            try await open(Array(members.dropFirst()), service, body)
        }
    }

    @Test("A silent stream gets a comment within 15 seconds, which ends with a blank line")
    func heartbeat() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                try await Task.sleep(for: .seconds(15))
                try await service.put("houses/h", as: ada, #"{"data":{"address":"a"}}"#)
                #expect(try await client.next()?.summary == "created houses h")
                #expect(client.commentCount == 1)
            }
        }
    }

    @Test("A client gets `end` when its time is over")
    func renewal() async throws {
        try await TestService.runWithFollowers { _, follow, _, ada, _ in
            let follower = try await follow.follower(of: ada, for: .seconds(1))
            guard case .synced = try await follower.nextEvent() else { throw Unexpected(description: "not synced") }
            guard case .end(.renew) = try await follower.nextEvent() else {
                throw Unexpected(description: "it goes on")
            }
        }
    }

    @Test("The system drops an unreachable client after a minute")
    func silentPeer() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await RawConnection.open(port: service.port) { other in
                try await other.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                _ = try await other.readSome()
                try await EventClient.open(service, as: ada) { client in
                    _ = try await client.summaries(until: "synced")
                    let timeouts = ServerConnections.values(of: TCP_USER_TIMEOUT, port: service.port)
                    #expect(timeouts.count >= 2 && timeouts.allSatisfy { $0 == 60_000 }, "\(timeouts)")
                }
            }
        }
    }

    @Test("The system holds few bytes for a client that takes none")
    func unsentBytes() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await RawConnection.open(port: service.port) { slow in
                try await slow.send(
                    """
                    GET /api/changes HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\
                    Authorization: Bearer \(ada.token)\r\n\r\n
                    """
                )
                _ = try await slow.readSome()
                try await EventClient.open(service, as: ada) { client in
                    _ = try await client.summaries(until: "synced")
                    let text = String(repeating: "x", count: 20_000)
                    for number in 0..<150 {
                        try await service.put("news/n\(number)", as: ada, #"{"data":{"title":"t","text":"\#(text)"}}"#)
                        #expect(try await client.next()?.summary == "created news n\(number)")
                    }
                }
                let held = ServerConnections.heldBytes(port: service.port)
                // What is unsent, a batch, and what is on its way.
                #expect(held.contains { $0 > 1_000 } && held.allSatisfy { $0 < 256 << 10 }, "\(held)")
            }
        }
    }

    @Test("A stream counts as use of its session, now and then", arguments: [(1, 1), (300_000, 0)])
    func use(milliseconds: Int, expected: Int) async throws {
        try await TestService.runWithFollowers { service, follow, owner, ada, _ in
            let recorder = SessionUseRecorder(
                sessions: SessionStore(postgres: service.postgres),
                logger: service.log.logger(level: .info)
            )
            var parts = FollowChanges(store: follow.store, hub: follow.hub, uses: recorder, now: follow.now)
            #expect(parts.useMilliseconds == 300_000...600_000)
            parts.useMilliseconds = milliseconds...milliseconds
            let follower = try await parts.follower(of: ada)
            while case .changes = try await follower.nextEvent() {}
            try await Task.sleep(for: .milliseconds(5))
            try await service.put("news/n", as: owner, #"{"data":{"title":"n"}}"#)
            #expect(try await follower.nextChanges().map(\.id) == ["n"])
            try await service.postgres.write("UPDATE sessions SET last_used_at = last_used_at - interval '1 hour'")
            await recorder.writeDown()
            let noted = try await service.count(
                "SELECT count(*) FROM sessions WHERE last_used_at > now() AT TIME ZONE 'UTC' - interval '1 minute'"
            )
            #expect(noted == expected)
        }
    }
}
