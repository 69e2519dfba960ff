import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("The dump and the logs of a used installation", .timeLimit(.minutes(3)))
struct DatabaseDumpTests {
    @Test("hold none of the tokens and passwords that were in use, in whatever form")
    func secrets() async throws {
        try await ServedSelfie.run(settings: ["LOG_LEVEL": "trace", "RATE_LIMITS": "on"]) { first in
            let second = try await ServedSelfie.start(
                databaseURL: first.service.databaseURL,
                objects: first.service.objects,
                settings: ["LOG_LEVEL": "trace"],
                postgres: first.service.postgres
            )
            let services = [first.service, second.service]
            var secrets: [String] = [TestService.apiPassword, "secret-key-base-"]
            for number in 0..<6 {
                let (service, email) = (services[number % 2], "user\(number)@example.com")
                let passwords = (0..<3).map { "password-\(number)-\($0)-\(UUID().uuidString)" }
                secrets += try passwords + passwords.map(TestService.encrypt)
                #expect(try await service.signUp(email: email, password: passwords[0]).status == 200)
                _ = try await service.signIn(email: email, password: passwords[2])
                var answers = [try await service.signIn(email: email, password: passwords[0])]
                let query = "email=\(email)&password=\(try Self.encoded(TestService.encrypt(passwords[0])))"
                let headers = [("Authorization", TestService.basic)]
                answers.append(try await service.send("GET", "/api/get_token?\(query)", headers: headers))
                let token = try #require(answers[0].json["api_authtoken"] as? String)
                _ = try await service.upload(token: token)
                let authorization = "Token token=\(token)"
                _ = try await service.send("GET", "/api/sessions", headers: [("Authorization", authorization)])
                answers.append(
                    try await service.sendForm(
                        "POST",
                        "/api/reset_password",
                        authorization: authorization,
                        [
                            ("old_password", try TestService.encrypt(passwords[0])),
                            ("new_password", try TestService.encrypt(passwords[1])),
                        ]
                    )
                )
                let tokens = answers.compactMap { $0.json["api_authtoken"] as? String }
                #expect(tokens.count == 3)
                secrets += tokens
                if number % 3 == 0 {
                    let leave = try await service.sendForm(
                        "DELETE",
                        "/api/account",
                        authorization: "Token token=\(tokens[2])",
                        [("password", try TestService.encrypt(passwords[1]))]
                    )
                    #expect(leave.status == 200)
                }
            }
            let dump = try await DatabaseDump.lines(url: first.service.databaseURL).joined(separator: "\n")
            #expect(dump.contains("user1@example.com") && dump.contains("$2b$10$") && dump.contains("audit_events"))
            let logs = first.process.output + second.process.output
            #expect(logs.contains("/api/reset_password"))
            for secret in secrets {
                #expect(!logs.contains(secret) && !logs.contains(Self.encoded(secret)))
                #expect(!dump.contains(secret))
                // Bytes are dumped in hexadecimal.
                #expect(
                    !dump.contains(secret.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
                )
            }
        }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
