import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The gallery's calls", .timeLimit(.minutes(2)))
struct GalleryTests {
    private static let own = [("Sec-Fetch-Site", "same-origin")]

    private static func post(
        _ service: TestService,
        _ path: String,
        _ values: [(String, String)],
        headers: [(String, String)] = own
    ) async throws -> HTTPAnswer {
        try await service.send(
            "POST",
            "/gallery/\(path)",
            headers: headers + [("Content-Type", "application/json")],
            body: Data(Scenario.Payload.jsonText(values).utf8)
        )
    }

    /// Signs up and in, and gives the cookie as the browser sends it.
    private static func signIn(_ service: TestService, email: String = "ada@example.com") async throws -> String {
        let account = [("full_name", "Ada Lovelace"), ("email", email), ("password", "my password")]
        _ = try await post(service, "signup", account)
        let answer = try await post(service, "signin", [("email", email), ("password", "my password")])
        return String(try #require(answer.headers["set-cookie"]).prefix { $0 != ";" })
    }

    private static func headers(_ cookie: String) -> [(String, String)] { own + [("Cookie", cookie)] }

    @Test("Signing in sets a cookie that no script can read, and shows no token")
    func cookie() async throws {
        try await TestService.run { service in
            let signUp = try await Self.post(
                service,
                "signup",
                [("full_name", "Ada Lovelace"), ("email", "ada@example.com"), ("password", "my password")]
            )
            #expect(
                signUp.text == """
                    {"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","email_state":"unverified",\
                    "has_password":true}
                    """
            )
            #expect(signUp.headers["set-cookie"] == nil)
            let signIn = try await Self.post(
                service,
                "signin",
                [("email", "ada@example.com"), ("password", "my password")]
            )
            #expect(signIn.text == signUp.text)
            #expect(signIn.headers["cache-control"] == "no-store")
            let cookie = try #require(signIn.headers["set-cookie"])
            let form = /selfie=([A-Za-z0-9]{41,}); Path=\/; HttpOnly; SameSite=Strict; Max-Age=86400/
            let token = try #require(cookie.wholeMatch(of: form)).output.1
            #expect(!service.log.text.contains(token) && !service.log.text.contains("my password"))
            // It is a token as any other.
            #expect(try await service.list(token: String(token)).status == 200)
        }
    }

    @Test("Behind HTTPS the cookie is for this host and secure connections alone")
    func secureCookie() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let headers = Self.own + [("X-Forwarded-Proto", "https")]
            let answer = try await Self.post(
                service,
                "signin",
                [("email", "ada@example.com"), ("password", "my password")],
                headers: headers
            )
            let cookie = try #require(answer.headers["set-cookie"])
            #expect(cookie.hasPrefix("__Host-selfie=") && cookie.hasSuffix("; Max-Age=86400; Secure"))
            let pair = String(cookie.prefix { $0 != ";" })
            let account = try await service.send("GET", "/gallery/account", headers: headers + [("Cookie", pair)])
            #expect(account.status == 200)
        }
    }

    @Test("So it is behind a proxy that does not report HTTPS: the browser does")
    func quietProxy() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let answer = try await Self.post(
                service,
                "signin",
                [("email", "ada@example.com"), ("password", "my password")],
                headers: Self.own + [("Origin", "https://127.0.0.1:\(service.port)")]
            )
            let cookie = try #require(answer.headers["set-cookie"])
            #expect(cookie.hasPrefix("__Host-selfie=") && cookie.hasSuffix("; Secure"))
            let pair = String(cookie.prefix { $0 != ";" })
            #expect(try await service.send("GET", "/gallery/account", headers: Self.headers(pair)).status == 200)
        }
    }

    @Test("Everything that people do works with the cookie, and only with it")
    func day() async throws {
        try await TestService.run { service in
            let cookie = try await Self.signIn(service)
            let headers = Self.headers(cookie)
            let upload = try await service.uploadByGallery(cookie: cookie)
            #expect(upload.status == 200)
            let id = try #require(upload.json["random_id"] as? String)
            let list = try await service.send("GET", "/gallery/photos?order=newest&limit=10", headers: headers)
            #expect(list.jsonArray?.map { $0["random_id"] as? String } == [id])
            let sessions = try await service.send("GET", "/gallery/sessions", headers: headers)
            #expect(sessions.jsonArray?.count == 1)
            #expect(try await service.send("DELETE", "/gallery/photos?photo_id=\(id)", headers: headers).status == 200)

            let changed = try await Self.post(
                service,
                "password",
                [("old_password", "my password"), ("new_password", "a new password")],
                headers: headers
            )
            #expect(changed.status == 200)
            #expect(try await service.send("GET", "/gallery/account", headers: headers).status == 401)
            let fresh = Self.headers(String(try #require(changed.headers["set-cookie"]).prefix { $0 != ";" }))
            #expect(try await service.send("GET", "/gallery/account", headers: fresh).status == 200)

            let other = try await service.newToken(password: "a new password")
            let out = try await Self.post(service, "signout", [], headers: fresh)
            #expect(out.status == 200)
            #expect(out.headers["set-cookie"] == "selfie=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
            #expect(out.headers["clear-site-data"] == #""cache""#)
            #expect(try await service.send("GET", "/gallery/account", headers: fresh).status == 401)
            #expect(try await service.list(token: other).status == 200, "the other session goes on")

            let last = Self.headers("selfie=\(other)")
            let left = try await service.send(
                "DELETE",
                "/gallery/account",
                headers: last + [("Content-Type", "application/json")],
                body: Data(Scenario.Payload.jsonText([("password", "a new password")]).utf8)
            )
            #expect(left.status == 200 && left.headers["set-cookie"]?.hasPrefix("selfie=;") == true)
            #expect(left.headers["clear-site-data"] == #""cache""#)
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }

    @Test("A failure has its cause in the log, and shows none of it")
    func failure() async throws {
        try await TestService.run { service in
            let cookie = try await Self.signIn(service)
            try await service.postgres.write("ALTER TABLE photo_libraries RENAME TO elsewhere")
            let failed = try await service.send("GET", "/gallery/photos", headers: Self.headers(cookie))
            #expect(failed.status == 500 && !failed.text.contains("photo_libraries"))
            let line = try #require(service.log.entries.last { $0.contains("status=500") })
            #expect(line.contains("PostgreSQL refused a statement"))
        }
    }

    @Test("The next page of photos is the gallery's, too")
    func pages() async throws {
        try await TestService.run { service in
            let cookie = try await Self.signIn(service)
            for _ in 0..<2 {
                _ = try await service.upload(token: String(try #require(cookie.split(separator: "=").last)))
            }
            let headers = Self.headers(cookie)
            let first = try await service.send("GET", "/gallery/photos?limit=1", headers: headers)
            let link = try #require(first.headers["link"])
            let target = try #require(link.firstMatch(of: /<http:\/\/[^\/]+(\/gallery\/photos\?[^>]+)>/)).output.1
            let second = try await service.send("GET", String(target), headers: headers)
            #expect(second.status == 200 && second.jsonArray?.count == 1)
            #expect(second.text != first.text && second.headers["link"] == nil)
        }
    }

    @Test("A credential or a token in a header is not taken for a cookie")
    func otherCredentials() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for authorization in [TestService.basic, tokenHeader(token)] {
                let headers = Self.own + [("Authorization", authorization)]
                let answer = try await service.send("GET", "/gallery/account", headers: headers)
                #expect(answer.status == 401 && answer.headers["www-authenticate"] == nil)
            }
            // And a cookie is no token for the API.
            let answer = try await service.send("GET", "/api/get_photos", headers: Self.headers("selfie=\(token)"))
            #expect(answer.status == 401)
        }
    }

    @Test("A page of another site is refused before anything is read, with the cookie or without")
    func crossSite() async throws {
        try await TestService.run { service in
            let cookie = try await Self.signIn(service)
            let before = try await service.state()
            let foreign: [[(String, String)]] = [
                [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")],
                [("Origin", "https://evil.example")],
                [("Origin", "null")], [("Sec-Fetch-Site", "same-origin"), ("Origin", "https://evil.example")],
            ]
            let calls = [
                ("GET", "photos"), ("GET", "account"), ("GET", "sessions"), ("POST", "photos"), ("POST", "signout"),
                ("POST", "signin"), ("POST", "signup"), ("POST", "password"), ("DELETE", "photos?photo_id=x"),
                ("DELETE", "account?password=my%20password"), ("DELETE", "sessions/1"),
            ]
            for headers in foreign {
                for (method, path) in calls {
                    let answer = try await service.send(
                        method,
                        "/gallery/\(path)",
                        headers: headers + [("Cookie", cookie)]
                    )
                    #expect(answer.status == 403, "\(method) \(path) \(headers)")
                    #expect(answer.json["code"] as? String == "cross_site_request")
                    #expect(answer.headers["access-control-allow-origin"] == nil)
                    #expect(answer.headers["set-cookie"] == nil)
                }
            }
            // A form of another page, in a browser without Sec-Fetch-Site and Origin.
            let form = try await service.send("POST", "/gallery/signout", headers: [("Cookie", cookie)])
            #expect(form.status == 403)
            #expect(try await service.state() == before)
        }
    }

    @Test("No refusal touches the cookie, or makes a browser ask for a password of its own")
    func ended() async throws {
        try await TestService.run { service in
            let cookie = try await Self.signIn(service)
            let wrong = try await Self.post(
                service,
                "password",
                [("old_password", "another"), ("new_password", "a new password")],
                headers: Self.headers(cookie)
            )
            #expect(wrong.status == 401 && wrong.headers["set-cookie"] == nil)
            service.clock.advance(by: 24 * 3600)
            for path in ["account", "photos", "sessions"] {
                let answer = try await service.send("GET", "/gallery/\(path)", headers: Self.headers(cookie))
                #expect(answer.status == 401 && answer.json["code"] as? String == "token_expired")
                #expect(answer.headers["set-cookie"] == nil)
                #expect(answer.headers["www-authenticate"] == nil)
            }
        }
    }

    @Test("Its sign-ins count and are noted as those of the API")
    func limits() async throws {
        let settings = ["RATE_LIMITS": "on", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/1h"]
        try await TestService.run(settings: settings) { service in
            _ = try await service.signUp(email: "ada@example.com")
            for status in [401, 401, 429] {
                let answer = try await Self.post(
                    service,
                    "signin",
                    [("email", "ada@example.com"), ("password", "wrong password")]
                )
                #expect(answer.status == status)
            }
            #expect(
                try await service.events().filter { $0.hasPrefix("sign_in") } == [
                    "sign_in_failed", "sign_in_failed", "sign_in_limited",
                ]
            )
        }
    }
}
