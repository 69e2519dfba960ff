import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfiePhotos

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
        try await TestService.run(store: store, settings: settings, adjust: { $0.doesNothingByItself() }) { service in
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
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 3)
            try await service.sweep()
            #expect(service.objects.keys().count == 1)
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 0)
            let dump = try await DatabaseDump.lines(url: service.databaseURL).joined(separator: "\n")
            #expect(dump.contains("bob@example.com"))
            for trace in ["ada.lovelace", "Augusta", "Byron", "Private", "ada.png"] {
                #expect(!dump.contains(trace), "\(trace)")
                #expect(!service.log.text.contains(trace), "\(trace)")
            }
            #expect(try await service.count("SELECT count(*) FROM known_addresses") == 1)
            let events = try await service.postgres.read(
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
                #expect(try await service.send(method, "/api/account").status == 405)
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
        try await TestService.run(
            store: store,
            adjust: { service in
                service.waitsPatiently()
                service.doesNothingByItself()
            }
        ) { service in
            let token = try await service.makeToken()
            _ = try await service.newToken()
            let other = try await service.count("SELECT max(id)::bigint AS count FROM sessions")
            let outcomes = try await withThrowingTaskGroup(of: (String, HTTPAnswer).self) { calls in
                try await service.postgres.withTransaction { connection in
                    try await connection.query("SELECT id FROM users FOR UPDATE")
                    for number in 0..<24 {
                        calls.addTask {
                            let name = ["delete", "list", "signin", "wrong", "end", "upload"][number % 6]
                            return (name, try await Self.call(name, service, token: token, other: other))
                        }
                    }
                    // All deletions, uploads, sign-ins and notes about wrong passwords wait for the account's row.
                    try await service.waitForLocks(16)
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
            for table in ["users", "photos", "sessions", "known_addresses"] {
                let rows = try await service.postgres.read(PostgresQuery(stringLiteral: "SELECT FROM \(table)"))
                #expect(rows.isEmpty, "\(table)")
            }
            // An upload that was on its way has its object deleted once no put can bring it back.
            try await service.postgres.write("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            try await service.sweep()
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 0)
            #expect(service.objects.keys().isEmpty)
        }
    }

    @Test("Photos and their account are deleted at once without a deadlock")
    func deletedPhotos() async throws {
        try await TestService.run(
            adjust: { service in
                service.waitsPatiently()
                service.doesNothingByItself()
            }
        ) { service in
            for _ in 0..<5 {
                let token = try await service.makeToken()
                try await service.addRows(5)
                let ids = try await service.postgres.read("SELECT random_id FROM photos")
                    .map { try $0.decode("random_id", as: String.self) }
                let outcomes = try await withThrowingTaskGroup(of: Int.self) { calls in
                    try await service.postgres.withTransaction { connection in
                        try await connection.query("SELECT FROM photo_libraries FOR UPDATE")
                        for id in ids { calls.addTask { try await service.delete(id, token: token).status } }
                        calls.addTask {
                            try await PhotoStore(postgres: service.postgres).removeLost(key: ids[0]) ? 200 : 404
                        }
                        calls.addTask { try await Self.delete(service, token).status }
                        try await service.waitForLocks(ids.count + 2)
                    }
                    return try await calls.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.allSatisfy { [200, 401, 404].contains($0) }, "\(outcomes)")
                #expect(try await service.count("SELECT count(*) FROM photos") == 0)
            }
            let deadlocks = try await service.count(
                "SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()"
            )
            #expect(deadlocks == 0)
        }
    }

    private static func call(
        _ name: String,
        _ service: TestService,
        token: String,
        other: Int
    ) async throws -> HTTPAnswer {
        switch name {
        case "delete": try await delete(service, token)
        case "list": try await service.list(token: token)
        case "signin": try await service.signIn(email: "ada@example.com")
        case "wrong": try await service.signIn(email: "ada@example.com", password: "wrong")
        case "end":
            try await service.send(
                "DELETE",
                "/api/sessions/\(other)",
                headers: [("Authorization", tokenHeader(token))]
            )
        default: try await service.upload(TestImage.png(bytes: 300_000), token: token)
        }
    }

    @Test("An upload that arrives while the account is being deleted waits, and is refused")
    func uploadMeanwhile() async throws {
        try await TestService.run(
            adjust: { service in
                service.waitsPatiently()
                service.doesNothingByItself()
            }
        ) { service in
            let token = try await service.makeToken()
            #expect(try await service.upload(token: token).status == 200)
            let (deletion, upload) = try await withThrowingTaskGroup(of: (Bool, Int).self) { calls in
                try await service.postgres.withTransaction { connection in
                    // What the deletion needs once it has the account's row.
                    try await connection.query("SELECT id FROM photos FOR UPDATE")
                    calls.addTask { (true, try await Self.delete(service, token).status) }
                    try await service.waitForLocks(1)
                    calls.addTask { (false, try await service.upload(token: token).status) }
                    try await service.waitForLocks(2)
                }
                let statuses = try await calls.reduce(into: [:]) { $0[$1.0] = $1.1 }
                return (statuses[true], statuses[false])
            }
            #expect(deletion == 200)
            #expect(upload == 401)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
        }
    }

    @Test("A password that is changed while a deletion checks the old one keeps the account")
    func changedMeanwhile() async throws {
        // The first hash is that of the sign-up, the third that of the deletion.
        let gate = ThreadGate { number, _ in number == 3 }
        try await TestService.run(adjust: { $0.computesHashes(threads: 2, through: gate) }) { service in
            defer { gate.open() }
            let token = try await service.makeToken()
            async let deletion = Self.delete(service, token)
            try await poll("the password is being checked") { gate.heldCount == 1 }
            let new = try BCrypt.hash(Array("new password".utf8), cost: 4)
            try await service.postgres.write("UPDATE users SET password_hash = \(new)")
            gate.open()
            let answer = try await deletion
            #expect(answer.status == 401 && answer.message == Refusal.wrongPassword)
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            #expect(try await Self.delete(service, token, password: "new password").status == 200)
        }
    }

    @Test("An account with very many photos is deleted statement by statement")
    func manyPhotos() async throws {
        try await TestService.run(adjust: { $0.doesNothingByItself() }) { service in
            let token = try await service.makeToken()
            let other = try await service.makeToken(email: "bob@example.com")
            #expect(try await service.upload(token: other).status == 200)
            try await service.postgres.write(
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
            // So many go after the answer.
            #expect(try await service.list(token: token).status == 401)
            await RecordEndTests.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM photos") == 1)
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            let written = try await service.count(
                "SELECT count(*) FROM audit_events WHERE user_id < (SELECT id FROM users) AND address IS NOT NULL"
            )
            #expect(written == 0)
            // They are left to the sweeper.
            let deletions = try await service.count(
                "SELECT count(*) FROM object_deletions WHERE random_id LIKE 'many-%'"
            )
            #expect(deletions == 25_000)
        }
    }
}
