import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("Leaving", .timeLimit(.minutes(3)))
struct DeleteAccountTests {
    private static func delete(
        _ service: TestService,
        _ token: String,
        password: String? = "my password"
    ) async throws -> HTTPAnswer {
        try await service.sendForm(
            "DELETE",
            "/api/account",
            authorization: tokenHeader(token),
            try password.map { [("password", try TestService.encrypt($0))] } ?? []
        )
    }

    @Test(
        "No row, no object and no log line about the person is left, but the id of the account in the audit",
        arguments: TestStore.allCases
    )
    func leaving(store: TestStore) async throws {
        let settings = ["LOG_LEVEL": "debug", "RATE_LIMITS": "on"]
        try await TestService.run(store: store, settings: settings, adjust: { $0.sweepInterval = .milliseconds(200) }) {
            service in
            let bob = try await service.makeToken(email: "bob@example.com")
            #expect(try await service.upload(token: bob).status == 200)
            let email = "ada.lovelace@example.com"
            _ = try await service.signUp(email: email, fullName: "Augusta Byron")
            let tokens = [
                try await service.newToken(email: email, password: "my password"),
                try await service.newToken(email: email, password: "my password"),
            ]
            _ = try await service.signIn(email: email, password: "wrong password")
            var urls: [String] = []
            for number in 0..<3 {
                let answer = try await service.upload(token: tokens[0], title: "Private \(number)", fileName: "ada.png")
                urls.append(try #require(answer.json["image_url"] as? String))
            }
            let before = try await service.count("SELECT id::bigint AS count FROM users WHERE first_name = 'Augusta'")
            #expect(before > 0)

            let answer = try await Self.delete(service, tokens[0])
            #expect(answer.text == #"{"status":200,"message":"Account deleted"}"#)
            for token in tokens { #expect(try await service.list(token: token).status == 401) }
            for url in urls { #expect(try await service.send("GET", url).status == 404) }
            #expect(try await service.signIn(email: email).status == 401)
            try await poll("the objects are deleted") { service.objects.keys().count == 1 }
            try await poll("the deletions are done") {
                try await service.count("SELECT count(*) FROM object_deletions") == 0
            }
            let dump = try await DatabaseDump.lines(url: service.databaseURL).joined(separator: "\n")
            #expect(dump.contains("bob@example.com"))
            for trace in ["ada.lovelace", "Augusta", "Byron", "Private", "ada.png"] {
                #expect(!dump.contains(trace), "\(trace)")
                #expect(!service.log.text.contains(trace), "\(trace)")
            }
            #expect(try await service.count("SELECT count(*) FROM known_addresses") == 1)
            let events = try await service.postgres.query(
                "SELECT event, coalesce(address, request_id) AS trace FROM audit_events WHERE user_id = \(before) ORDER BY id"
            )
            let names: [String] = try events.map { try $0.decode("event") }
            #expect(names == ["sign_up", "sign_in", "sign_in", "sign_in_failed", "account_deleted"])
            for event in events {
                let trace: String? = try event.decodeIfPresent("trace")
                #expect(trace == nil)
            }
            // Whoever has the e-mail may begin anew, and is somebody else.
            _ = try await service.signUp(email: email)
            let anew = try await service.newToken(email: email, password: "my password")
            #expect(try await service.list(token: anew).jsonArray?.isEmpty == true)
        }
    }

    @Test("A refused deletion deletes nothing")
    func refusals() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            #expect(try await service.upload(token: token).status == 200)
            let missing = try await Self.delete(service, token, password: nil)
            #expect(missing.status == 400 && missing.message == "required parameters are missing")
            let wrong = try await Self.delete(service, token, password: "wrong password")
            #expect(wrong.status == 401 && wrong.message == "Wrong Password")
            let garbage = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: tokenHeader(token),
                [("password", "not encrypted")]
            )
            #expect(garbage.status == 401 && garbage.message == "Wrong Password")
            #expect(try await Self.delete(service, "x" + token).status == 401)
            for method in ["GET", "POST", "PUT"] {
                #expect(try await service.send(method, "/api/account").status == 404)
            }
            service.clock.advance(by: 25 * 3600)
            #expect(
                try await Self.delete(service, token).message
                    == "Authtoken has expired. Please get a new token and try again!"
            )
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'ready'") == 1)
            #expect(service.objects.keys().count == 1)
        }
    }

    @Test("Parallel deletions, uploads, lists and sign-ins leave no row and no object", arguments: TestStore.allCases)
    func races(store: TestStore) async throws {
        try await TestService.run(store: store, adjust: { $0.sweepInterval = .milliseconds(200) }) { service in
            let token = try await service.makeToken()
            _ = try await service.newToken()
            let other = try await service.count("SELECT max(id)::bigint AS count FROM sessions")
            let outcomes = try await withThrowingTaskGroup(of: (String, HTTPAnswer).self) { calls in
                for number in 0..<24 {
                    calls.addTask {
                        switch number % 6 {
                        case 0: ("delete", try await Self.delete(service, token))
                        case 1: ("list", try await service.list(token: token))
                        case 2: ("signin", try await service.signIn(email: "ada@example.com"))
                        case 3: ("wrong", try await service.signIn(email: "ada@example.com", password: "wrong"))
                        case 4:
                            (
                                "end",
                                try await service.send(
                                    "DELETE",
                                    "/api/sessions/\(other)",
                                    headers: [("Authorization", tokenHeader(token))]
                                )
                            )
                        default: ("upload", try await service.upload(TestImage.png(bytes: 300_000), token: token))
                        }
                    }
                }
                return try await calls.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0.0 == "delete" && $0.1.status == 200 } == 1)
            for (call, answer) in outcomes {
                let isFine = [200, 401, 404].contains(answer.status) || call == "upload" && answer.status == 503
                #expect(isFine, "\(call): \(answer.text)")
            }
            let left = try await service.count(
                "SELECT count(*) FROM audit_events WHERE user_id IS NOT NULL AND address IS NOT NULL"
            )
            #expect(left == 0)
            // An upload that was on its way has its object deleted once no put can bring it back.
            try await service.postgres.execute("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            try await poll("all is gone") {
                let rows = try await service.count(
                    """
                    SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM photos) + (SELECT count(*) FROM sessions)
                        + (SELECT count(*) FROM object_deletions) AS count
                    """
                )
                return rows == 0 && service.objects.keys().isEmpty
            }
        }
    }

    @Test("An upload that arrives while the account is being deleted waits, and is refused")
    func uploadMeanwhile() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            #expect(try await service.upload(token: token).status == 200)
            for statement in [
                """
                CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep(1); RETURN OLD; END $$
                """,
                """
                CREATE TRIGGER dawdling BEFORE DELETE ON photos
                FOR EACH ROW WHEN (OLD.state = 'ready') EXECUTE FUNCTION dawdle()
                """,
            ] as [PostgresQuery] {
                try await service.postgres.execute(statement)
            }
            async let deletion = Self.delete(service, token)
            try await poll("the account is being deleted") {
                try await service.count(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event = 'PgSleep'
                    """
                ) == 1
            }
            #expect(try await service.upload(token: token).status == 401)
            #expect(try await deletion.status == 200)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
        }
    }

    @Test("Who has very many photos can leave too, statement by statement")
    func manyPhotos() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let other = try await service.makeToken(email: "bob@example.com")
            #expect(try await service.upload(token: other).status == 200)
            try await service.postgres.execute(
                """
                WITH kept AS (
                    INSERT INTO photos (name, title, random_id, user_id, state)
                    SELECT 'photo', 'title', 'many-' || i, (SELECT min(id) FROM users), 'ready'
                    FROM generate_series(1, 25000) AS i
                )
                INSERT INTO audit_events (event, user_id, address, request_id)
                SELECT 'photo_deleted', (SELECT min(id) FROM users), '192.0.2.1', 'request'
                FROM generate_series(1, 25000) AS i
                """
            )
            #expect(try await Self.delete(service, token).status == 200)
            #expect(try await service.count("SELECT count(*) FROM photos") == 1)
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            let written = try await service.count(
                "SELECT count(*) FROM audit_events WHERE user_id < (SELECT id FROM users) AND address IS NOT NULL"
            )
            #expect(written == 0)
            // What is left of them is worked off by the sweeper, which may have begun.
            let deletions = try await service.count(
                "SELECT count(*) FROM object_deletions WHERE random_id LIKE 'many-%'"
            )
            #expect(deletions > 20_000)
        }
    }
}
