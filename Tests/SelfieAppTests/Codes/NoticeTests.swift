import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("Notices", .timeLimit(.minutes(2)))
struct NoticeTests {
    private static func changePassword(
        _ service: TestService,
        _ token: String,
        from old: String,
        to new: String,
        _ headers: [(String, String)] = []
    ) async throws -> String {
        let answer = try await service.sendForm(
            "POST",
            "/api/reset_password",
            authorization: tokenHeader(token),
            [("old_password", try TestService.encrypt(old)), ("new_password", try TestService.encrypt(new))],
            headers: headers
        )
        return try #require(answer.token, "\(answer.text)")
    }

    /// The text of the only mail.
    private static func text(_ service: TestService) async throws -> String {
        try await poll("mail") { !service.mails.all.isEmpty }
        let file = try #require(try service.mails.files().last)
        return file.replacing("=\r\n", with: "").replacing("\r\n", with: "\n").replacing("=20\n", with: "\n")
    }

    @Test("After a new password, it says by whom, and from which network")
    func password() async throws {
        let settings = TestService.behindProxy.merging(["APP_URL": "https://selfies.example.com"]) { $1 }
        try await TestService.run(settings: settings) { service in
            let token = try await service.makeToken()
            let place = from("203.0.113.77")
            _ = try await Self.changePassword(service, token, from: "my password", to: "another password", place)
            let text = try await Self.text(service)
            #expect(text.contains("To: <ada@example.com>") && text.contains("with the old password"))
            #expect(text.contains("from the network 203.0.113.0/24") && !text.contains("203.0.113.77"))
            #expect(text.contains("https://selfies.example.com"))
            #expect(text.contains(/On \d{4}-\d\d-\d\d at \d\d:\d\d UTC/))
        }
    }

    @Test("It goes to the address of the time of the event, and the database shows neither address nor text")
    func sealed() async throws {
        try await TestService.run(adjust: { $0.worksInBackground = false }) { service in
            let token = try await service.makeToken()
            _ = try await Self.changePassword(service, token, from: "my password", to: "another password")
            try await service.postgres.write("UPDATE users SET email = 'thief@example.com'")
            let row = try await service.postgres.read("SELECT deliveries::text AS line FROM deliveries")[0]
            let line: String = try row.decode("line")
            #expect(!line.contains("example.com") && line.contains("password_changed"))
            let cause = try await service.postgres.read("SELECT cause->>'to' AS sealed FROM deliveries")[0]
            let sealed: String = try cause.decode("sealed")
            #expect(!sealed.contains("ada") && Data(base64Encoded: sealed)?.contains(Data("ada".utf8)) != true)
        }
    }

    @Test(
        "At most ten of a kind in a day to an address that is proven, and ten in all to another",
        arguments: [true, false]
    )
    func limit(isProven: Bool) async throws {
        try await TestService.run { service in
            var token = try await service.makeToken()
            if isProven { try await service.moveEmail(to: "ada@example.com", token: token) }
            for number in 0..<12 {
                let old = number == 0 ? "my password" : "password \(number - 1)"
                token = try await Self.changePassword(service, token, from: old, to: "password \(number)")
            }
            try await poll("deliveries") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
            #expect(service.subjects(to: "ada@example.com").count == 10)
            // Another kind has no count of its own where nobody has proven the address.
            let deleted = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: tokenHeader(token),
                [("password", try TestService.encrypt("password 11"))]
            )
            #expect(deleted.status == 200)
            try await poll("deliveries") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
            #expect(service.subjects(to: "ada@example.com").count == (isProven ? 11 : 10))
        }
    }

    @Test("Sign-ins at home do not use up the notices of new places")
    func signInsAtHome() async throws {
        let settings = TestService.behindProxy.merging(["NOTICES": "signin"]) { $1 }
        try await TestService.run(settings: settings) { service in
            let home = from("198.51.100.7")
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            for _ in 0..<12 { _ = try await service.signIn(email: "ada@example.com", headers: home) }
            _ = try await service.signIn(email: "ada@example.com", headers: from("203.0.113.1"))
            try await poll("notice") { service.subjects(to: "ada@example.com").count == 1 }
        }
    }

    @Test("With NOTICES=signin, the user is told of a new place, and not of the first or a known one")
    func places() async throws {
        let settings = TestService.behindProxy.merging(["NOTICES": "signin"]) { $1 }
        try await TestService.run(settings: settings) { service in
            let home = from("198.51.100.7")
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            for place in [home, home] {
                #expect(try await service.signIn(email: "ada@example.com", headers: place).status == 200)
            }
            #expect(try await service.count("SELECT count(*) FROM deliveries") == 0)
            for _ in 0..<2 {
                #expect(
                    try await service.signIn(email: "ada@example.com", headers: from("203.0.113.1")).status == 200
                )
            }
            let text = try await Self.text(service)
            #expect(text.contains("new place: the network 203.0.113.0/24"))
            try await poll("deliveries") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
            #expect(service.mails.all.count == 1)
            // Without the setting there is none: the other tests show that.
        }
    }

    @Test("A deleted account is told once, at its address, without a place")
    func deletion() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let answer = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: tokenHeader(token),
                [("password", try TestService.encrypt("my password"))]
            )
            #expect(answer.status == 200)
            let text = try await Self.text(service)
            #expect(text.contains("To: <ada@example.com>") && text.contains("is deleted"))
            try await poll("deliveries") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
        }
    }
}
