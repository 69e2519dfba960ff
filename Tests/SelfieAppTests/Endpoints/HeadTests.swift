import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("HEAD")
struct HeadTests {
    @Test("It has the headers of GET and no body, and changes nothing")
    func headers() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let upload = try await service.upload(TestImage.png(bytes: 64), token: token)
            let url = try service.target(of: try #require(upload.json["image_url"] as? String))
            let password = try TestService.encrypt("my password").formEncoded
            let credentials = "email=ada%40example.com&password=\(password)"
            // clear_token comes last, since its GET ends the session.
            let targets = [
                ("/", nil), ("/nope", nil), (url, nil), ("/photos/x", nil),
                ("/api/get_photos", tokenHeader(token)), ("/api/get_photos", nil),
                ("/api/sessions", tokenHeader(token)), ("/api/sessions", nil),
                ("/api/get_token?\(credentials)", TestService.basic), ("/api/get_token", TestService.basic),
                ("/api/clear_token", nil), ("/api/clear_token", tokenHeader(token)),
            ]
            for (target, authorization) in targets {
                let headers = authorization.map { [("Authorization", $0)] } ?? []
                let before = try await service.state()
                let head = try await service.send("HEAD", target, headers: headers)
                #expect(try await service.state() == before, "\(target)")
                let get = try await service.send("GET", target, headers: headers)
                #expect(head.status == get.status, "\(target)")
                #expect(head.body.isEmpty)
                #expect(get.headers["content-length"] == String(get.body.count), "\(target)")
                #expect(Self.comparable(head) == Self.comparable(get), "\(target)")
            }
            #expect(try await service.count("SELECT count(*) FROM sessions") == 1)
        }
    }

    /// The headers but for those that change from one moment to the next.
    private static func comparable(_ answer: HTTPAnswer) -> [String: String] {
        answer.headers.filter { !["date", "x-request-id"].contains($0.key) }
            .mapValues { $0.replacing(/max-age=[1-9]\d*/, with: "max-age=…") }
    }

    @Test("On one connection the next answer follows at once")
    func pipelined() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                try await connection.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let head = try #require(try await connection.readResponse(isHead: true))
                let get = try #require(try await connection.readResponse())
                #expect(head.headers["content-length"] == "22")
                #expect(get.text == "Glad to find you here!")
            }
        }
    }

    @Test("A token that HEAD get_token seems to give is none", arguments: [false, true])
    func noSession(withoutPassword: Bool) async throws {
        let settings = ["GET_TOKEN_WITHOUT_PASSWORD": String(withoutPassword)]
        try await TestService.run(settings: settings) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let password = try TestService.encrypt("my password").formEncoded
            for (password, status) in [(password, 200), ("wrong", withoutPassword ? 200 : 401)] {
                try await service.check(
                    Scenario(
                        "HEAD",
                        "HEAD /api/get_token?email=ada@example.com&password=\(password)",
                        authorization: TestService.basic,
                        status: status,
                        event: withoutPassword ? nil : status == 401 ? "sign_in_failed" : "password_checked"
                    )
                )
            }
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
        }
    }

    @Test("HEAD clear_token ends no session, not even with all=true")
    func clearToken() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for query in ["", "?all=true"] {
                try await service.check(
                    Scenario("HEAD", "HEAD /api/clear_token\(query)", authorization: tokenHeader(token))
                )
            }
            #expect(try await service.list(token: token).status == 200)
        }
    }
}
