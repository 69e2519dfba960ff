import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieAccounts

@Suite("Photo URLs end with the sessions")
struct EndedURLTests {
    /// The URL of the only photo of a token's user.
    private func url(_ token: String, _ service: TestService) async throws -> String {
        try #require(try await service.list(token: token).jsonArray?.first?["image_url"] as? String)
    }

    private func clearAll(_ token: String, _ service: TestService, method: String = "GET") async throws -> Int {
        try await service.send(
            method,
            "/api/clear_token?all=true",
            headers: [("Authorization", tokenHeader(token))]
        ).status
    }

    @Test("URLs of before an account was disabled do not come back when it is enabled")
    func disabled() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            _ = try await service.upload(token: token)
            let url = try await url(token, service)
            let users = UserStore(postgres: service.postgres)
            let id = try await service.count("SELECT id::bigint AS count FROM users")
            #expect(try await users.disable(id: id))
            #expect(try await users.enable(id: id))
            #expect(try await service.send("GET", url).status == 403)
        }
    }

    @Test(
        "A password reset and the end of all sessions end all URLs that were handed out, and only the user's own",
        arguments: TestDelivery.allCases
    )
    func ended(delivery: TestDelivery) async throws {
        try await TestService.run(store: delivery.store, settings: delivery.settings) { service in
            var token = try await service.makeToken()
            let bob = try await service.makeToken(email: "bob@example.com")
            for token in [token, bob] { _ = try await service.upload(token: token) }
            let bobs = try await url(bob, service)
            var ended: [String] = []
            for round in 0..<4 {
                let present = try await url(token, service)
                let tag = try await service.list(token: token).headers["etag"]
                #expect(try await service.send("GET", present).status == delivery.status)
                if round % 2 == 0 {
                    let answer = try await service.sendForm(
                        "POST",
                        "/api/reset_password",
                        authorization: tokenHeader(token),
                        [
                            ("old_password", try TestService.encrypt("my password")),
                            ("new_password", try TestService.encrypt("my password")),
                        ]
                    )
                    token = try #require(answer.json["api_authtoken"] as? String)
                } else {
                    #expect(try await clearAll(token, service) == 200)
                    token = try await service.newToken()
                }
                ended.append(present)
                for url in ended {
                    let refused = try await service.send("GET", url)
                    #expect(refused.status == 403)
                    #expect(refused.message == "The photo's address is invalid or has expired")
                    // Not for a client with a copy, either.
                    let headers = [("If-None-Match", "*")]
                    #expect(try await service.send("GET", url, headers: headers).status == 403)
                }
                let new = try await url(token, service)
                #expect(new != present)
                #expect(try await service.send("GET", new).status == delivery.status)
                #expect(try await service.list(token: token).headers["etag"] != tag)
            }
            #expect(try await service.send("GET", bobs).status == delivery.status)
            let upload = try #require(try await service.upload(token: token).json["image_url"] as? String)
            #expect(upload.contains("&series=4&"))
            #expect(try await service.send("GET", upload).status == delivery.status)
        }
    }

    @Test("The end of one session, HEAD and a wrong password end no URL")
    func goesOn() async throws {
        try await TestService.run { service in
            let (token, other) = (try await service.makeToken(), try await service.newToken())
            _ = try await service.upload(token: token)
            let url = try await url(token, service)
            #expect(try await clearAll(token, service, method: "HEAD") == 200)
            let wrong = try await service.sendForm(
                "POST",
                "/api/reset_password",
                authorization: tokenHeader(token),
                [
                    ("old_password", try TestService.encrypt("your password")),
                    ("new_password", try TestService.encrypt("my password")),
                ]
            )
            #expect(wrong.status == 401)
            let one = try await service.send(
                "GET",
                "/api/clear_token",
                headers: [("Authorization", tokenHeader(other))]
            )
            #expect(one.status == 200)
            #expect(try await service.send("GET", url).status == 200)
            #expect(try await self.url(token, service) == url)
        }
    }

    @Test("All sessions are ended while the account is deleted: the token is invalid, as it is afterwards")
    func deletedMeanwhile() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let user = try await service.count("SELECT id::bigint AS count FROM users")
            let answer = try await withThrowingTaskGroup(of: HTTPAnswer.self) { calls in
                try await service.postgres.withTransaction { connection in
                    try await connection.query("SELECT FROM users FOR UPDATE")
                    calls.addTask { try await service.call("POST", "/api/clear_token?all=true", token: token) }
                    try await service.waitForLocks(1)
                    try await connection.execute("DELETE FROM users WHERE id = \(user)")
                }
                return try #require(try await calls.next())
            }
            #expect(answer.status == 401 && answer.code == "token_invalid", "\(answer.text)")
        }
    }
}
