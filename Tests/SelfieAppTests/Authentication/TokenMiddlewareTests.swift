import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieWeb

@Suite("Tokens")
struct TokenMiddlewareTests {
    private static let calls = Endpoint.calls(.token)

    @Test("They are taken in all the forms of the contract")
    func forms() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let accepted = [
                "Token token=\(token)", "Token token=\"\(token)\"", "token token=\(token)", "TOKEN token=\"\(token)\"",
                "Token   token=\(token)", "Token token=\(token), nonce=abc", "Token token=\"\(token)\", nonce=\"abc\"",
                "Token token=\(token); nonce=abc", "Token token=\"\(token)\"; nonce=abc", "Token token=\(token),a=b",
                "Token \(token)", "Token \"\(token)\"", "Bearer \(token)", "bearer \(token)", "BEARER  \(token)",
            ]
            for header in accepted {
                let answer = try await service.check(Scenario(header, "GET /api/get_photos", authorization: header))
                #expect(answer.text == "[]")
            }
        }
    }

    @Test("No token, a blank one, an unknown one and one that was tampered with are refused", .timeLimit(.minutes(2)))
    func refused() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            // Were blank tokens ever looked up, they would be found here.
            for blank in ["", " ", "\"\"", "token="] {
                try await service.postgres.write(
                    """
                    INSERT INTO sessions (user_id, token_digest, expires_at)
                    SELECT id, sha256(convert_to(\(blank), 'UTF8')), now() + interval '1 day' FROM users
                    """
                )
            }
            let swapped = String(token.map { $0.isLowercase ? Character($0.uppercased()) : $0 })
            let refused: [String?] = [
                nil, "", " ", "Token", "Token ", "Token token=", "Token token=\"\"", "Token token=\" \"", "Token \"\"",
                "Token token", "Token ,", "Token token=,", "Token token=;a=b", "Bearer", "Bearer ", "Bearer \"\"",
                "Bearer  ", token, "token=\(token)", "Tokentoken=\(token)", "Basic \(token)", TestService.basic,
                "Digest token=\(token)", "Token token=unknown", "Token nonce=abc, token=\(token)",
                "Token token=\(token.dropLast())", "Token token=\(token.dropFirst())", "Token token=\(token)x",
                "Token token=x\(token)", "Token token=\(token)\(token)", "Token token=\(token.uppercased())",
                "Token token=\(token.lowercased())", "Token token=\(swapped)",
                "Token token=\(String(token.reversed()))",
                "Token token='\(token)'", "Token token=%\(token)", "Token token=\(token)%00",
                "Token token=\(String(repeating: "a", count: 4096))",
            ]
            for header in refused {
                try await Self.expectDenied(service, "GET /api/get_photos", header)
            }
            for call in Self.calls {
                for header in [nil, "Token token=", "Token token=unknown", TestService.basic] {
                    try await Self.expectDenied(service, call, header)
                }
            }
        }
    }

    @Test("A token's digest is no token")
    func digest() async throws {
        try await TestService.run { service in
            _ = try await service.makeToken()
            let rows = try await service.postgres.read("SELECT encode(token_digest, 'hex') AS digest FROM sessions")
            let digest: String = try #require(rows.first).decode("digest")
            try await Self.expectDenied(service, "GET /api/get_photos", "Token token=\(digest)")
            try await Self.expectDenied(service, "GET /api/get_photos", "Token token=\\x\(digest)")
        }
    }

    @Test("One letter changed, anywhere, makes a token unknown")
    func everyLetter() async throws {
        try await TestService.run { service in
            let token = Array(try await service.makeToken())
            for index in token.indices {
                var changed = token
                changed[index] = changed[index] == "a" ? "b" : "a"
                try await Self.expectDenied(service, "GET /api/get_photos", "Token token=\(String(changed))")
            }
        }
    }

    private static func expectDenied(_ service: TestService, _ call: String, _ header: String?) async throws {
        let answer = try await service.check(
            Scenario(
                "\(call) with \(header?.prefix(100) ?? "nothing")",
                call,
                authorization: header,
                status: 401,
                message: Refusal.token
            )
        )
        #expect(answer.headers["www-authenticate"] == #"Token realm="Application""#)
    }

    @Test("An ended token is as good as unknown, even after its time")
    func ended() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            _ = try await service.send("GET", "/api/clear_token", headers: [("Authorization", tokenHeader(token))])
            for call in Self.calls { try await Self.expectDenied(service, call, tokenHeader(token)) }
            service.clock.advance(by: 25 * 3600)
            for call in Self.calls { try await Self.expectDenied(service, call, tokenHeader(token)) }
        }
    }
}
