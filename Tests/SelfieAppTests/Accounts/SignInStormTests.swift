import ConnectionTestSupport
import Foundation
import Postgres
import SelfieAccounts
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieCore

@Suite("A small storm of sign-ins", .timeLimit(.minutes(2)))
struct SignInStormTests {
    /// All are of one network.
    ///
    /// Another one would get the room of one of them.
    private static let fromHere = [("X-Forwarded-For", "203.0.113.1")]
    private static let refusal =
        #"{"status":503,"message":"The service is not available at the moment. Please try again later!","code":"service_unavailable"}"#

    @Test(
        "Two are at work, four wait, all others are refused at once, and lists are served throughout",
        arguments: [false, true]
    )
    func storm(isTooLate: Bool) async throws {
        let (gate, uptime) = (ThreadGate(), ManualTime())
        gate.open()
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"]
        try await TestService.run(
            settings: settings,
            adjust: { service in
                service.waitsPatiently()
                service.computesHashes(threads: 2, permitsPerThread: 3, through: gate)
                service.passwordHashing.clock = uptime
            }
        ) { service in
            let token = try await service.makeToken()
            try await service.postgres.write("DELETE FROM rate_limits")
            gate.close()
            gate.forget()
            defer { gate.open() }
            try await withThrowingTaskGroup(of: HTTPAnswer.self) { signIns in
                for number in 0..<24 {
                    signIns.addTask {
                        try await service.signIn(email: "nobody\(number)@example.com", headers: Self.fromHere)
                    }
                }
                for _ in 0..<18 {
                    let answer = try #require(try await signIns.next())
                    #expect(answer.text == Self.refusal)
                    #expect(answer.headers["retry-after"] == "5")
                }
                try await poll("two are at work") { gate.heldCount == 2 }
                // Neither sign-ups nor passwords of sessions get a place, and all that needs no hash is answered.
                #expect(try await service.signUp(email: "bob@example.com", headers: Self.fromHere).status == 503)
                let password = try TestService.encrypt("my password")
                for (method, path) in [("POST", "reset_password"), ("DELETE", "account")] {
                    let parameters = [("old_password", password), ("new_password", password), ("password", password)]
                    let answer = try await service.sendForm(
                        method,
                        "/api/\(path)",
                        authorization: tokenHeader(token),
                        parameters,
                        headers: Self.fromHere
                    )
                    #expect(answer.status == 503)
                }
                for _ in 0..<3 { #expect(try await service.list(token: token).text == "[]") }
                #expect(gate.passed == [4, 4])
                if isTooLate { uptime.advance(by: .seconds(8)) }
                gate.open()
                let rest = try await signIns.reduce(into: []) { $0.append($1.status) }
                #expect(
                    rest.sorted() == (isTooLate ? [401, 401, 503, 503, 503, 503] : Array(repeating: 401, count: 6))
                )
            }
            // What was not tried is not counted.
            let tried = isTooLate ? 2 : 6
            #expect(try await service.count("SELECT sum(count)::bigint AS count FROM rate_limits") == 3 * tried)
            #expect(try await service.count("SELECT max(count)::bigint AS count FROM rate_limits") == tried)
            let failed = try await service.count(
                "SELECT sum(count) AS count FROM audit_events WHERE event = 'sign_in_failed'"
            )
            #expect(failed == tried)
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
        }
    }
}
