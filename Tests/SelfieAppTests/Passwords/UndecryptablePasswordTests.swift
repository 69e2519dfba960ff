import AESCrypt
import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Passwords that can't be decrypted")
struct UndecryptablePasswordTests {
    /// One for each reason, as a client in trouble may send it.
    private static let samples: [(reason: String, text: String)] = [
        ("not_base64", "my password!"), ("plus_became_space", "EQyz ukU ss Sinf15bApdYj5ANrRwY632v8EhrzLPk="),
        ("not_whole_blocks", "bXkgcGFzc3dvcmQ="), ("other_key", "7E7lPZsqj0DgtsX2yhG1gA=="),
    ]

    @Test("are answered as the contract says, whatever is wrong, and the log has the reason")
    func answers() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for (reason, text) in Self.samples {
                let signUp = [("full_name", "Bob"), ("email", "bob@example.com"), ("password", text)]
                let signIn = [("email", "ada@example.com"), ("password", text)]
                let reset = [("old_password", text), ("new_password", try TestService.encrypt("a new password"))]
                let renew = [("old_password", try TestService.encrypt("my password")), ("new_password", text)]
                let calls: [(String, String, [(String, String)], Int, String, String?)] = [
                    ("POST /api/signup", TestService.basic, signUp, 400, Refusal.passwordTooShort, nil),
                    ("POST /api/signin", TestService.basic, signIn, 401, Refusal.wrongCredentials, "sign_in_failed"),
                    ("GET /api/get_token", TestService.basic, signIn, 401, Refusal.wrongCredentials, "sign_in_failed"),
                    ("POST /api/reset_password", token, reset, 401, Refusal.wrongPassword, "password_reset_failed"),
                    ("POST /api/reset_password", token, renew, 400, Refusal.passwordTooShort, nil),
                    (
                        "DELETE /api/account", token, [("password", text)], 401, Refusal.wrongPassword,
                        "account_deletion_failed"
                    ),
                ]
                for (call, credential, parameters, status, message, event) in calls {
                    let before = service.log.text.count(of: "undecryptable_password=\(reason)")
                    try await service.check(
                        Scenario(
                            "\(call) with \(reason)",
                            call,
                            authorization: credential == token ? tokenHeader(token) : credential,
                            .form(parameters),
                            status: status,
                            message: message,
                            event: event
                        )
                    )
                    try await poll("the log has why \(call) failed") {
                        service.log.text.count(of: "undecryptable_password=\(reason)") == before + 1
                    }
                }
            }
        }
    }

    @Test("A password that is only wrong is not logged so")
    func wrong() async throws {
        try await TestService.run { service in
            _ = try await service.makeToken()
            #expect(try await service.signIn(email: "ada@example.com", password: "another password").status == 401)
            #expect(!service.log.text.contains("undecryptable_password"))
        }
    }

    @Test("They are counted by day and reason, together by all processes, and a flood of them is one row")
    func counted() async throws {
        try await TestService.run(adjust: { $0.undecryptablePasswordInterval = .milliseconds(20) }) { service in
            for (number, sample) in Self.samples.enumerated() {
                for _ in 0...number {
                    _ = try await service.sendForm(
                        "POST",
                        "/api/signin",
                        authorization: TestService.basic,
                        [("email", "ada@example.com"), ("password", sample.text)]
                    )
                }
            }
            try await poll("all are counted") {
                try await service.count("SELECT coalesce(sum(count), 0)::bigint AS count FROM undecryptable_passwords")
                    == 10
            }
            let rows = try await service.postgres.read(
                "SELECT reason, count FROM undecryptable_passwords WHERE day = (now() AT TIME ZONE 'UTC')::date ORDER BY count"
            )
            #expect(try rows.map { try $0.decode("reason", as: String.self) } == Self.samples.map(\.reason))
            #expect(try rows.map { try $0.decode("count", as: Int.self) } == [1, 2, 3, 4])
        }
    }
}

extension String {
    fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
