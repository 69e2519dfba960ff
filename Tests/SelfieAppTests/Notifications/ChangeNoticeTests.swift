import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Mails of subscriptions", .timeLimit(.minutes(2)))
struct ChangeNoticeTests {
    /// Runs a service whose mails wait until ``mails(_:)`` asks for them, also when a minute ends meanwhile.
    private static func run(
        settings: [String: String] = ["RATE_LIMITS": "off"],
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema(settings: settings) { service in
            try await service.postgres.write(
                """
                CREATE FUNCTION wait_longer() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN NEW.due_at := NEW.due_at + interval '1 hour'; RETURN NEW; END $$
                """
            )
            try await service.postgres.write(
                """
                CREATE TRIGGER waits BEFORE INSERT ON deliveries FOR EACH ROW
                    WHEN (NEW.cause->>'kind' = 'records_changed') EXECUTE FUNCTION wait_longer()
                """
            )
            try await body(service)
        }
    }

    /// Makes a member of the role who wants mails about bugs.
    @discardableResult
    private static func addReader(
        _ name: String,
        isVerified: Bool = true,
        alert: String? = nil,
        _ service: TestService
    ) async throws -> TestMember {
        let member = try await service.addMember(name, role: "team")
        if isVerified {
            try await service.postgres.write("UPDATE users SET email_verified_at = now() WHERE id = \(member.userID)")
        }
        let text = alert.map { #","alert":"\#($0)""# } ?? ""
        try await service.subscribe(
            "bugs",
            as: member,
            #"{"collection":"bugs","on":["created","updated","deleted"],"channel":"mail"\#(text)}"#
        )
        return member
    }

    private static func write(_ id: String, _ service: TestService, as member: TestMember) async throws {
        let answer = try await service.call(
            "PUT",
            "/api/records/bugs/\(id)",
            as: member,
            #"{"data":{"title":"s3cret"}}"#
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    private static func waiting(_ service: TestService) async throws -> Int {
        try await service.count("SELECT count(*) FROM deliveries WHERE cause->>'kind' = 'records_changed'")
    }

    /// Waits until changes are gathered, and has their mails sent as a minute later.
    private static func mails(_ service: TestService) async throws -> [String: String] {
        try await poll("they are gathered") {
            try await service.count("SELECT count(*) FROM deliveries WHERE channel = 'subscriptions'") == 0
        }
        try await service.postgres.write("UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC'")
        try await poll("they are sent", within: .seconds(30)) {
            try await service.count("SELECT count(*) FROM deliveries") == 0
        }
        let mails = try service.mails.files().filter { $0.contains("Subject: Changes in bugs") }
        return mails.reduce(into: [:]) { texts, mail in
            let name = mail.firstMatch(of: /To: <?([a-z]+)@/).map { String($0.1) } ?? "?"
            texts[name, default: ""] += mail
        }
    }

    @Test("A role's members get one mail about a minute's changes, if their address is proven, and not about their own")
    func gathered() async throws {
        try await Self.run { service in
            let ada = try await Self.addReader("ada", service)
            try await Self.addReader("bob", service)
            try await Self.addReader("carol", isVerified: false, service)
            try await Self.write("b1", service, as: ada)
            try await Self.write("b2", service, as: ada)
            try await Self.write("b2", service, as: ada)
            #expect(try await service.call("DELETE", "/api/records/bugs/b1", as: ada).status == 200)
            let mails = try await Self.mails(service)
            #expect(mails.keys.sorted() == ["bob"])
            let text = try #require(mails["bob"]).replacing("\r\n", with: "\n")
            #expect(
                text.contains("- b2 was created\n- b2 was updated\n") && text.contains("- b1 was deleted\n"),
                "\(text)"
            )
            #expect(!text.contains("b1 was created") && !text.contains("s3cret"))
            #expect(text.matches(of: /Message-ID/).count == 1)
        }
    }

    @Test("One mail names 32 changes; fields are in it only with PUSH_CONTENTS=contents")
    func many() async throws {
        try await Self.run(settings: ["RATE_LIMITS": "off", "PUSH_CONTENTS": "contents"]) { service in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.addReader("bob", alert: "{title}", service)
            for number in 0..<40 { try await Self.write("b\(number)", service, as: ada) }
            let text = try #require(try await Self.mails(service)["bob"]).replacing("\r\n", with: "\n")
            #expect(text.matches(of: /b[0-9]+ was created: s3cret\n/).count == 32, "\(text)")
            #expect(text.contains("- There may be more.\n"))
        }
    }

    @Test("Somebody with many subscriptions to the same holds up nobody")
    func manySubscriptions() async throws {
        try await Self.run { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await Self.addReader("bob", service)
            let body = #"{"collection":"bugs","on":["created","updated"],"channel":"mail"}"#
            for number in 0..<45 { try await service.subscribe("s\(number)", as: bob, body) }
            try await Self.addReader("carol", service)
            try await Self.write("b1", service, as: ada)
            try await Self.write("b1", service, as: ada)
            try await Self.write("b2", service, as: ada)
            let mails = try await Self.mails(service)
            #expect(mails.keys.sorted() == ["bob", "carol"])
            #expect(mails["bob"]?.matches(of: /- b[12] was/).count == 32)
            #expect(mails["bob"]?.contains("- There may be more.") == true)
            #expect(mails["carol"]?.matches(of: /- b[12] was/).count == 3)
        }
    }

    @Test("Whoever loses the right, ends the subscription or loses the address before the mail is sent gets none")
    func lost() async throws {
        try await Self.run { service in
            let ada = try await service.addMember("ada", role: "team")
            var members: [String: TestMember] = [:]
            for name in ["role", "ended", "address", "stays"] {
                members[name] = try await Self.addReader(name, service)
            }
            try await Self.write("b1", service, as: ada)
            try await poll("four mails wait") { try await Self.waiting(service) == 4 }
            let ids = members.mapValues(\.userID)
            try await service.postgres.write("DELETE FROM role_members WHERE user_id = \(ids["role"] ?? 0)")
            try await service.postgres.write("DELETE FROM subscriptions WHERE user_id = \(ids["ended"] ?? 0)")
            try await service.postgres.write(
                "UPDATE users SET email_verified_at = NULL WHERE id = \(ids["address"] ?? 0)"
            )
            #expect(try await Self.mails(service).keys.sorted() == ["stays"])
        }
    }

    @Test("What comes while a mail is on its way out is in the next one, and no more than 500 a day are sent")
    func underWay() async throws {
        let settings = ["RATE_LIMITS": "off", "RATE_LIMIT_CHANGE_MAILS_PER_USER": "2/1d"]
        try await TestService.runWithSchema(settings: settings, adjust: { $0.worksInBackground = false }) { held in
            let ada = try await held.addMember("ada", role: "team")
            try await Self.addReader("bob", held)
            for number in 1...3 {
                try await Self.write("b\(number)", held, as: ada)
                try await held.spreadAll()
                // A process sends it just now.
                try await held.postgres.write(
                    "UPDATE deliveries SET claimed_until = now() AT TIME ZONE 'UTC' + interval '1 hour' WHERE claimed_until IS NULL"
                )
            }
            #expect(try await Self.waiting(held) == 3)
            try await held.postgres.write("UPDATE deliveries SET claimed_until = NULL")
            try await TestService.run(databaseURL: held.databaseURL, settings: settings) { service in
                let mails = try await Self.mails(service)
                #expect(mails["bob"]?.matches(of: /b[123] was created/).count == 2)
            }
        }
    }
}
