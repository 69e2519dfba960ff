import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("Requests that take too long to answer", .timeLimit(.minutes(2)))
struct AnswerTimeTests {
    /// Runs a body with a service that has no time to answer, and ends connections only with their client.
    private static func withHurry(
        gate: ThreadGate = .recorder(),
        statementLimit: Duration? = nil,
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestService.run(
            settings: ["RATE_LIMITS": "on"],
            adjust: { service in
                service.waitsPatiently()
                if let statementLimit { service.configuration.postgres.statementTimeout = statementLimit }
                service.doesNothingByItself()
                service.computesHashes(threads: 1, through: gate)
                service.limits.answerTimeout = .zero
                service.limits.lingerTimeout = .hours(1)
                service.limits.tick = .milliseconds(10)
            },
            body
        )
    }

    /// The id of a request that was answered instead of by its handler.
    private static func expectTimeOut(_ answer: HTTPAnswer?) throws -> String {
        let answer = try #require(answer)
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] == "5")
        #expect(answer.json["status"] as? Int == 503)
        return try #require(answer.headers["x-request-id"])
    }

    /// How often the log has something of a request.
    private static func count(_ text: String, _ requestID: String, _ service: TestService) -> Int {
        service.log.entries.count { $0.contains(text) && $0.contains("request_id=\(requestID)") }
    }

    /// A sign-in that is correct.
    private static func signIn() throws -> String {
        let form = "email=ada%40example.com&password=\(try TestService.encrypt("my password").formEncoded)"
        return """
            POST /api/signin HTTP/1.1\r
            Host: localhost\r
            Authorization: \(TestService.basic)\r
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(form.utf8.count)\r
            \r
            \(form)
            """
    }

    @Test("A waiting sign-in is answered in time, and starts no session after its client has left")
    func password() async throws {
        let gate = ThreadGate()
        try await Self.withHurry(gate: gate) { service in
            defer { gate.open() }
            try await service.addUser(email: "ada@example.com", cost: 4)
            let requestID = try await RawConnection.open(port: service.port) { client in
                try await client.send(Self.signIn())
                let requestID = try Self.expectTimeOut(try await client.readResponse())
                try await poll("its password is being tried") { gate.heldCount == 1 }
                return requestID
            }
            #expect(Self.count("answered 503", requestID, service) == 1)
            #expect(Self.count("status=", requestID, service) == 0, "it is still under way")
            try await poll("the connection has ended") { try SocketTable.openCount(at: service.port) == 0 }
            gate.open()
            try await poll("the request has ended") { Self.count("status=503", requestID, service) == 1 }
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
            #expect(
                try await service.count("SELECT count(*) FROM rate_limits WHERE count > 0") == 1,
                "it was right, and a try"
            )
        }
    }

    @Test("A request behind one that took too long is not started")
    func pipelined() async throws {
        let gate = ThreadGate()
        try await Self.withHurry(gate: gate) { service in
            defer { gate.open() }
            try await service.addUser(email: "ada@example.com", cost: 4)
            try await RawConnection.open(port: service.port) { client in
                try await client.send(String(repeating: Self.signIn(), count: 2))
                let requestID = try Self.expectTimeOut(try await client.readResponse())
                try await poll("its password is being tried") { gate.heldCount == 1 }
                gate.open()
                try await poll("it has ended") { Self.count("status=503", requestID, service) == 1 }
                // The server has no client left to write to.
                #expect(try await client.readToEnd().isEmpty)
            }
            #expect(gate.passed.count == 1)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 1)
        }
    }

    @Test("An upload that waits in the database is answered in time, and stores nothing after its client has left")
    func upload() async throws {
        // The database's time limit ends what waits: a statement that commits is not cancelled.
        try await Self.withHurry(statementLimit: .seconds(5)) { service in
            let token = try await service.addSession()
            try await service.postgres.withConnection { connection in
                try await connection.execute(script: "BEGIN; LOCK TABLE photos IN ACCESS EXCLUSIVE MODE")
                let requestID = try await RawConnection.open(port: service.port) { client in
                    // All at once: a body that is not read yet would be timed out with its request.
                    let body = TestMultipart.body(image: TestImage.png(bytes: 64), title: "A title")
                    try await client.sendUploadHead(token: token, "Content-Length: \(body.count)", body: body)
                    let requestID = try Self.expectTimeOut(try await client.readResponse())
                    try await service.waitForLocks(1)
                    return requestID
                }
                try await service.waitForLocks(0)
                try await poll("the request has ended") { Self.count("status=503", requestID, service) == 1 }
                #expect(Self.count("answered 503", requestID, service) == 1)
                try await connection.execute(script: "ROLLBACK")
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            #expect(service.objects.keys().isEmpty)
        }
    }
}
