import ConnectionTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("10,000 wrong codes from 1,000 addresses", .serialized, .timeLimit(.minutes(10)))
struct WrongCodeStormTests {
    private static let tryCount = 10_000
    private static let addressCount = 1_000
    private static let clientCount = 16

    @Test("None lets anybody in, and the owner gets in at home at every moment")
    func storm() async throws {
        try await MailServerPeer.with(.plain) { peer in
            let settings = [
                "SMTP_URL": "smtp://localhost:\(peer.port)", "MAIL_FROM": "no-reply@example.com", "RATE_LIMITS": "on",
                "TRUSTED_PROXIES": "1", "RATE_LIMIT_CODES_PER_ACCOUNT": "1000/1h",
                "RATE_LIMIT_CODES_PER_ADDRESS": "1000/1h",
            ]
            try await ServedSelfie.run(settings: settings) { served in
                try await Self.attack(served.service, peer)
            }
        }
    }

    private static func attack(_ service: TestService, _ peer: MailServerPeer) async throws {
        let home = [("X-Forwarded-For", "198.51.100.7")]
        #expect(try await service.signUp(email: "ada@example.com", headers: home).status == 200)
        let (statuses, signInCount) = try await withThrowingTaskGroup(of: [Int: Int].self) { clients in
            for client in 0..<clientCount {
                clients.addTask {
                    var statuses: [Int: Int] = [:]
                    for number in stride(from: client, to: tryCount, by: clientCount) {
                        let place = "203.\(number % addressCount / 250).\(number % 250).1"
                        let isReset = number % 3 == 0
                        let answer = try await service.sendForm(
                            "POST",
                            isReset ? "/api/recover_password" : "/api/signin",
                            authorization: TestService.basic,
                            [
                                ("email", "ada@example.com"), ("code", String(format: "%06d", number * 97 % 1_000_000)),
                                ("new_password", try TestService.encrypt("a thief's password")),
                            ],
                            headers: [("X-Forwarded-For", place)]
                        )
                        statuses[answer.status, default: 0] += 1
                        if answer.status == 401 { #expect(answer.json["code"] as? String == "code_invalid") }
                    }
                    return statuses
                }
            }
            // Meanwhile, the owner signs in with one code after the other.
            var count = 0
            while count < 40 {
                count += 1
                try await signIn(service, peer, number: count, home)
            }
            return (try await clients.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }, count)
        }
        print("answers by status: \(statuses), sign-ins of the owner: \(signInCount)")
        #expect(Set(statuses.keys) == [401, 429])
        // Twenty of a day: parallel ones that were refused give nothing back.
        #expect(statuses[401] ?? 0 <= 20)
        try await signIn(service, peer, number: signInCount + 1, home)
        #expect(try await service.count("SELECT count(*) FROM sessions") == signInCount + 1)
        #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
    }

    private static func signIn(
        _ service: TestService,
        _ peer: MailServerPeer,
        number: Int,
        _ home: [(String, String)]
    ) async throws {
        let asked = try await service.sendForm(
            "POST",
            "/api/request_code",
            authorization: TestService.basic,
            [("email", "ada@example.com"), ("purpose", "signin")],
            headers: home
        )
        #expect(asked.status == 200)
        let mail = try await found("mail") { try peer.mails().dropFirst(number - 1).first }
        let text = String(decoding: mail.bytes, as: UTF8.self)
        let code = String(try #require(text.firstMatch(of: /(?m)^    (\d{6})/)?.1))
        let answer = try await service.sendForm(
            "POST",
            "/api/signin",
            authorization: TestService.basic,
            [("email", "ada@example.com"), ("code", code)],
            headers: home
        )
        #expect(answer.status == 200, "\(answer.text)")
    }
}
