import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("Clients that disconnect before a password is checked", .timeLimit(.minutes(2)))
struct HungUpTests {
    /// How often what was counted.
    private static func counts(_ service: TestService) async throws -> [Int] {
        try await service.postgres.read("SELECT count FROM rate_limits").map { try $0.decode("count") }
    }

    /// A request that tries a wrong password from an address of its own.
    private static func request(_ call: String, token: String) throws -> String {
        let password = try TestService.encrypt("wrong password").formEncoded
        let parameters =
            "email=ada%40example.com&password=\(password)&old_password=\(password)&new_password=\(password)"
        let method = call == "account" ? "DELETE" : "POST"
        let authorization = call == "signin" ? TestService.basic : tokenHeader(token)
        return """
            \(method) /api/\(call) HTTP/1.1\r
            Host: localhost\r
            Authorization: \(authorization)\r
            X-Forwarded-For: 203.0.113.1\r
            X-Request-Id: hung-up\r
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(parameters.utf8.count)\r
            \r
            \(parameters)
            """
    }

    /// The status that was logged for the request; nil while it is under way.
    private static func status(_ service: TestService) -> Substring? {
        service.log.entries.filter { $0.contains("request_id=hung-up") }
            .compactMap { $0.firstMatch(of: /status=(\d+)/)?.output.1 }.first
    }

    @Test(
        "Gets no try for nothing, whether the password waited or was being tried",
        arguments: ["signin", "reset_password", "account"],
        [false, true]
    )
    func stays(call: String, isTried: Bool) async throws {
        let gate = ThreadGate()
        gate.open()
        try await TestService.run(
            settings: ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"],
            adjust: { service in
                service.waitsPatiently()
                service.doesNothingByItself()
                service.computesHashes(threads: 1, through: gate)
                service.limits.halfClosedTimeout = .milliseconds(50)
                service.limits.tick = .milliseconds(10)
            }
        ) { service in
            defer { gate.open() }
            let token = try await service.makeToken()
            try await service.postgres.write("DELETE FROM rate_limits")
            gate.close()
            let other = isTried ? nil : Task { try await service.signIn(email: "nobody@example.com").status }
            if !isTried { try await poll("another password is tried") { gate.heldCount == 1 } }
            // A sign-in counts for its address and its account, and each try of a password for its account.
            let rows = (isTried ? 0 : 3) + (call == "signin" ? 3 : 2)
            try await RawConnection.open(port: service.port) { client in
                try await client.send(Self.request(call, token: token))
                try await poll("the password is counted, and a thread is held up") {
                    try await Self.counts(service).count == rows && gate.heldCount == 1
                }
            }
            #expect(Self.status(service) == nil)
            gate.open()
            try await poll("the request is over") { Self.status(service) != nil }
            // What may change something goes on without its client.
            #expect(Self.status(service) == "401")
            if let other { #expect(try await other.value == 401) }
            #expect(try await Self.counts(service) == Array(repeating: 1, count: rows))
        }
    }
}
