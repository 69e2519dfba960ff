import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieWeb

@Suite("Secrecy", .timeLimit(.minutes(2)))
struct SecrecyTests {
    /// What must not be seen, and what it is.
    private struct Secrets: Sendable {
        var values: [String: String] = [
            "the API's password": TestService.apiPassword,
            "the API's header": String(TestService.basic.dropFirst("Basic ".count)),
            "the secret key": "secret-key-base-",
            "a signature's name": "signature=",
            "S3's signature": "X-Amz-Signature",
        ]

        mutating func add(_ name: String, _ value: Any?) { values["\(name) \(values.count)"] = "\(value ?? "")" }

        /// Those that a text has, as they are or percent-encoded, whichever way its letters are written.
        func found(in text: String) -> [String] {
            let plain = text.lowercased()
            let decoded = Self.decoded(plain)
            return values.filter { _, value in
                let value = value.lowercased()
                return plain.contains(value) || plain.contains(value.formEncoded.lowercased())
                    || decoded.contains(value)
            }.map { "\($0.key): \($0.value)" }
        }

        /// Each `%xx` decoded by itself: what else a line has, such as a lone %, must not hide it.
        private static func decoded(_ text: String) -> String {
            var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), digits.wholeMatch(of: /[0-9a-f]{2}/) != nil,
                    let code = UInt8(digits, radix: 16)
                {
                    bytes.append(code)
                    rest.removeFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test("A secret in the log is detected, in whatever form")
    func leaks() throws {
        var secrets = Secrets()
        secrets.add("an encrypted password", "aB+/c9==")
        #expect(secrets.found(in: "info request finished endpoint=/api/signin status=200").isEmpty)
        for leak in ["aB+/c9==", "aB%2B%2Fc9%3D%3D", "aB%2b%2fc9%3d%3d", "AB+/C9==", "aB+%2Fc9=="] {
            for line in ["info uri=/?password=\(leak)&more=1", "100% of %zz \(leak) %", "%c3%28 password=\(leak) %f"] {
                #expect(secrets.found(in: line) == ["an encrypted password 5: aB+/c9=="], "\(line)")
            }
        }
    }

    @Test(
        "No log holds a secret, not even at the finest level and when everything fails",
        arguments: TestStore.allCases
    )
    func log(store: TestStore) async throws {
        try await TestService.run(store: store, settings: ["LOG_LEVEL": "trace"]) { service in
            var secrets = try await Self.runThroughEverything(service)
            if case .s3(let server, _) = service.objects {
                secrets.add("S3's secret", server.secretAccessKey)
                secrets.add("S3's key", server.accessKeyID)
            }
            try await Self.fail(service)
            let log = service.log.text
            #expect(log.contains("endpoint="))
            #expect(log.contains("PostgreSQL refused a statement"))
            #expect(secrets.values.values.allSatisfy { $0.count > 5 })
            for line in service.log.entries { #expect(secrets.found(in: line).isEmpty, "\(line)") }
        }
    }

    @Test("The database holds no token and no password, in whatever form")
    func database() async throws {
        try await TestService.run { service in
            let secrets = try await Self.runThroughEverything(service)
            let dump = try await DatabaseDump.lines(url: service.databaseURL).joined(separator: "\n")
            #expect(dump.contains("secretive@example.com"))
            #expect(dump.contains("$2b$04$"))
            for (name, value) in secrets.values where !name.hasPrefix("an e-mail") {
                // A part would be too much already.
                let part = String(value.prefix(16))
                #expect(!dump.contains(part), "\(name): \(value)")
                let hexadecimal = part.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                #expect(!dump.contains(hexadecimal), "\(name): \(value)")
            }
        }
    }

    /// Uses every endpoint, rightly and wrongly.
    private static func runThroughEverything(_ service: TestService) async throws -> Secrets {
        var secrets = Secrets()
        let (email, old, new) = ("secretive@example.com", "old-secret-password", "new-secret-password")
        for password in [old, new, "short", "wrong-secret-password"] {
            if password != "short" { secrets.add("a password", password) }
            secrets.add("an encrypted password", try TestService.encrypt(password))
        }
        secrets.add("an e-mail", email)
        secrets.add("an e-mail", "nobody@secret.example")
        secrets.add("an e-mail", "leaving@secret.example")
        for password in ["short", old, old] { _ = try await service.signUp(email: email, password: password) }
        var token = try await service.newToken(email: email, password: old)
        secrets.add("a token", token)
        _ = try await service.signIn(email: email, password: "wrong-secret-password")
        _ = try await service.signIn(email: "nobody@secret.example", password: old)
        let query = "email=\(email)&password=\(try TestService.encrypt(old).formEncoded)"
        for headers in [[("Authorization", TestService.basic)], []] {
            for target in ["/api/get_token?\(query)", "/nope?\(query)&token=\(token)", "/api/get_photos?\(query)"] {
                let answer = try await service.send("GET", target, headers: headers)
                answer.json["api_authtoken"].map { secrets.add("a token", $0) }
            }
        }
        for header in ["Token token=\(token)x", "Bearer \(token),", "Basic \(token)", token] {
            _ = try await service.send("GET", "/api/get_photos", headers: [("Authorization", header)])
        }
        let upload = try await service.upload(token: token)
        let url = try #require(upload.json["image_url"] as? String)
        secrets.add("a signature", url.split(separator: "=").last)
        for url in [url, url + "x", String(url.dropLast())] { _ = try await service.send("GET", url) }
        _ = try await service.upload(Data("no photo".utf8), token: token)
        _ = try await service.list(token: token)
        let reset = try await service.sendForm(
            "POST",
            "/api/reset_password",
            authorization: tokenHeader(token),
            [("old_password", try TestService.encrypt(old)), ("new_password", try TestService.encrypt(new))]
        )
        token = try #require(reset.json["api_authtoken"] as? String)
        secrets.add("a token", token)
        _ = try await service.delete("unknown", token: token)
        _ = try await service.delete(try #require(upload.json["random_id"] as? String), token: token)
        _ = try await service.sendForm("POST", "/api/clear_token", authorization: tokenHeader(token))
        token = try await service.newToken(email: email, password: new)
        secrets.add("a token", token)
        for (method, target) in [("GET", "/api/sessions"), ("DELETE", "/api/sessions/0"), ("DELETE", "/api/account")] {
            _ = try await service.sendForm(
                method,
                target,
                authorization: tokenHeader(token),
                [("password", try TestService.encrypt("wrong-secret-password"))]
            )
        }
        let leaving = try await service.makeToken(email: "leaving@secret.example", password: old)
        secrets.add("a token", leaving)
        let left = try await service.sendForm(
            "DELETE",
            "/api/account",
            authorization: tokenHeader(leaving),
            [("password", try TestService.encrypt(old))]
        )
        #expect(left.status == 200)
        try await Self.runThroughGallery(service, email: email, password: new, into: &secrets)
        try await RawConnection.open(port: service.port) { connection in
            try await connection.send("GET /?\(query) HTP/1.1\r\nAuthorization: Token \(token)\r\n\r\n")
            _ = try await connection.readToEnd()
        }
        return secrets
    }

    /// Uses every endpoint of the gallery with a cookie, rightly and wrongly.
    private static func runThroughGallery(
        _ service: TestService,
        email: String,
        password: String,
        into secrets: inout Secrets
    ) async throws {
        let own = [("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/json")]
        var cookie = ""
        for (given, name) in [("wrong-secret-password", ""), (password, "a cookie's token")] {
            let values = [("full_name", "Secretive"), ("email", email), ("password", given)]
            let body = Data(Scenario.Payload.jsonText(values).utf8)
            _ = try await service.send("POST", "/gallery/signup", headers: own, body: body)
            let answer = try await service.send("POST", "/gallery/signin", headers: own, body: body)
            guard !name.isEmpty else { continue }
            cookie = String(try #require(answer.headers["set-cookie"]).prefix { $0 != ";" })
            secrets.add(name, cookie.split(separator: "=").last)
        }
        let calls = Endpoint.calls(.cookie).sorted()
        #expect(calls.count == 14)
        for headers in [own + [("Cookie", cookie)], own + [("Cookie", cookie + "x")], [("Cookie", cookie)]] {
            for call in calls where !call.contains("signout") {
                let parts = call.split(separator: " ").map(String.init)
                let values = [
                    ("old_password", "wrong-secret-password"), ("new_password", password), ("password", "no"),
                ]
                let body = Data(Scenario.Payload.jsonText(values).utf8)
                _ = try await service.send(parts[0], parts[1], headers: headers, body: parts[0] == "GET" ? nil : body)
            }
        }
        let upload = try await service.uploadByGallery(cookie: cookie)
        let url = try #require(upload.json["image_url"] as? String)
        secrets.add("a signature", url.split(separator: "=").last)
        // A store may be asked for it itself.
        #expect([200, 302].contains(try await service.send("GET", url).status))
        let values = [("old_password", password), ("new_password", password)]
        let change = Data(Scenario.Payload.jsonText(values).utf8)
        let changed = try await service.send(
            "POST",
            "/gallery/password",
            headers: own + [("Cookie", cookie)],
            body: change
        )
        cookie = String(try #require(changed.headers["set-cookie"]).prefix { $0 != ";" })
        secrets.add("a cookie's token", cookie.split(separator: "=").last)
        let out = try await service.send("POST", "/gallery/signout", headers: own + [("Cookie", cookie)])
        #expect(out.status == 200)
    }

    /// Makes the database refuse rows, whose values its messages then quote.
    private static func fail(_ service: TestService) async throws {
        let token = try await service.newToken(email: "secretive@example.com", password: "new-secret-password")
        try await service.postgres.write("ALTER TABLE users ADD CHECK (email = 'secretive@example.com')")
        try await service.postgres.write("ALTER TABLE sessions ADD CHECK (false) NOT VALID")
        try await service.postgres.write("ALTER TABLE photos ADD CHECK (false) NOT VALID")
        let answers = [
            try await service.signUp(email: "nobody@secret.example", password: "old-secret-password"),
            try await service.signIn(email: "secretive@example.com", password: "new-secret-password"),
            try await service.upload(token: token),
        ]
        for answer in answers {
            #expect(
                answer.text
                    == #"{"status":500,"message":"Something went wrong. Please try again later!","code":"internal_error"}"#
            )
        }
        try await service.postgres.write("ALTER TABLE sessions RENAME TO elsewhere")
        #expect(try await service.list(token: token).status == 500)
    }
}
