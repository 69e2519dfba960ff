import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Blocks", .timeLimit(.minutes(2)))
struct BlockTests {
    private static func list(_ service: TestService, _ token: String) async throws -> [String] {
        let answer = try await service.call("GET", "/api/blocks", token: token)
        #expect(answer.status == 200 && answer.headers["cache-control"] == "private, no-cache")
        return try #require(answer.json["blocks"] as? [String])
    }

    @Test("A block begins and ends, twice is the same as once, and it affects no other user")
    func blocks() async throws {
        // They need no directory.
        try await TestService.run(settings: ["DIRECTORY": ""]) { service in
            let (ada, bob) = (try await service.addSession(), try await service.addSession(name: "bob"))
            let id = try await service.memberID("bob")
            for _ in 0..<2 {
                let answer = try await service.call("PUT", "/api/blocks/\(id)", token: ada)
                #expect(answer.text == #"{"status":200,"message":"Member blocked"}"#)
                #expect(try await Self.list(service, ada) == [id])
            }
            #expect(try await Self.list(service, bob).isEmpty)
            for _ in 0..<2 {
                let answer = try await service.call("DELETE", "/api/blocks/\(id)", token: ada)
                #expect(answer.text == #"{"status":200,"message":"Member unblocked"}"#)
                #expect(try await Self.list(service, ada).isEmpty)
            }
        }
    }

    @Test("A user can't block themselves, unknown or disabled members; a block of a disabled one can end")
    func refused() async throws {
        try await TestService.run { service in
            let ada = try await service.addSession()
            let (own, bob) = (try await service.memberID("ada"), try await service.addMember("Bob", "Babbage"))
            let oneself = try await service.call("PUT", "/api/blocks/\(own)", token: ada)
            #expect(oneself.status == 400 && oneself.json["code"] as? String == "member_is_oneself")
            let before = try await service.state()
            let unknown = [
                "1", "x", String(repeating: "0", count: 32), bob.uppercased(), "%00", bob + "0", "%2e%2e",
                "%F0%9F%98%80",
            ]
            for id in unknown {
                for method in ["PUT", "DELETE"] {
                    let answer = try await service.call(method, "/api/blocks/\(id)", token: ada)
                    #expect(answer.status == 404 && answer.json["code"] as? String == "member_not_found", "\(id)")
                }
            }
            #expect(try await service.state() == before)
            _ = try await service.call("PUT", "/api/blocks/\(bob)", token: ada)
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE member_id = \(bob)")
            #expect(try await Self.list(service, ada) == [bob])
            #expect(try await service.call("PUT", "/api/blocks/\(bob)", token: ada).status == 404)
            #expect(try await service.call("DELETE", "/api/blocks/\(bob)", token: ada).status == 200)
            #expect(try await Self.list(service, ada).isEmpty)
        }
    }

    @Test("A user blocks 1,000 members at most, also by parallel calls")
    func limit() async throws {
        try await TestService.run { service in
            let ada = try await service.addSession()
            try await service.postgres.write(
                """
                INSERT INTO users (first_name, last_name, email, password_hash)
                SELECT 'Member', number::text, number || '@example.com', 'none' FROM generate_series(1, 1020) AS number
                """
            )
            try await service.postgres.write(
                """
                INSERT INTO blocks SELECT (SELECT id FROM users WHERE first_name = 'Ada'), id FROM users
                WHERE last_name IN (SELECT generate_series(1, 990)::text)
                """
            )
            let rows = try await service.postgres.read(
                "SELECT member_id FROM users WHERE last_name IN (SELECT generate_series(991, 1020)::text) ORDER BY id"
            )
            let ids = try rows.map { try $0.decode("member_id", as: String.self) }
            let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { calls in
                for id in ids {
                    calls.addTask { try await service.call("PUT", "/api/blocks/\(id)", token: ada) }
                }
                return try await calls.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.filter { $0.status == 200 }.count == 10)
            #expect(answers.filter { $0.json["code"] as? String == "too_many_blocks" }.count == 20)
            let blocked = try await Self.list(service, ada)
            #expect(blocked.count == 1_000)
            // A member who is blocked already does not count again.
            #expect(try await service.call("PUT", "/api/blocks/\(blocked[0])", token: ada).status == 200)
            _ = try await service.call("DELETE", "/api/blocks/\(blocked[0])", token: ada)
            #expect(try await service.call("PUT", "/api/blocks/\(blocked[0])", token: ada).status == 200)
        }
    }

    @Test("Accounts that block each other can be deleted at the same time")
    func deletions() async throws {
        try await TestService.run { service in
            let names = (0..<6).map { "user\($0)" }
            var tokens: [String] = []
            for name in names { tokens.append(try await service.makeToken(email: "\(name)@example.com")) }
            try await service.postgres.write(
                "INSERT INTO blocks SELECT one.id, other.id FROM users AS one, users AS other WHERE one.id <> other.id"
            )
            let password = try TestService.encrypt("my password")
            try await withThrowingTaskGroup(of: Int.self) { deletions in
                for token in tokens {
                    deletions.addTask {
                        try await service.sendForm(
                            "DELETE",
                            "/api/account",
                            authorization: tokenHeader(token),
                            [("password", password)]
                        ).status
                    }
                }
                for try await status in deletions { #expect(status == 200) }
            }
            #expect(try await service.count("SELECT count(*) FROM blocks") == 0)
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }
}
