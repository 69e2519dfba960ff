import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Synchronization
import Testing

@Suite("The audit", .timeLimit(.minutes(2)))
struct AuditTests {
    @Test("Each event of an account is stored once, with the user, the address and the request")
    func events() async throws {
        try await TestService.run(settings: ["TRUSTED_PROXIES": "1"]) { service in
            let (from, number) = ("203.0.113.9", Counter())
            let headers = { [("X-Forwarded-For", from), ("X-Request-Id", "request-\(number.next())")] }
            let password = try TestService.encrypt("my password")
            let call = { (method: String, path: String, authorization: String, parameters: [(String, String)]) in
                try await service.sendForm(
                    method,
                    "/api/\(path)",
                    authorization: authorization,
                    parameters,
                    headers: headers()
                )
            }
            let signIn = { (password: String) in
                try await service.signIn(email: "ada@example.com", password: password, headers: headers())
            }
            _ = try await service.signUp(email: "ada@example.com", headers: headers())
            _ = try await service.signUp(email: "ada@example.com", headers: headers())
            _ = try await signIn("wrong password")
            _ = try await service.signIn(email: "nobody@example.com", headers: headers())
            var token = try #require(try await signIn("my password").json["api_authtoken"] as? String)
            let wrong = try TestService.encrypt("wrong password")
            _ = try await call(
                "POST",
                "reset_password",
                tokenHeader(token),
                [("old_password", wrong), ("new_password", password)]
            )
            let reset = try await call(
                "POST",
                "reset_password",
                tokenHeader(token),
                [("old_password", password), ("new_password", password)]
            )
            token = try #require(reset.json["api_authtoken"] as? String)
            let uploaded = try await service.upload(token: token)
            let randomID = try #require(uploaded.json["random_id"] as? String)
            for _ in 0..<2 {
                _ = try await call("DELETE", "delete_photo", tokenHeader(token), [("photo_id", randomID)])
            }
            _ = try await call("DELETE", "account", tokenHeader(token), [("password", wrong)])
            _ = try await call("GET", "clear_token", tokenHeader(token), [])
            for _ in 0..<2 {
                token = try #require(try await signIn("my password").json["api_authtoken"] as? String)
            }
            let other = try await service.count("SELECT min(id)::bigint AS count FROM sessions")
            for _ in 0..<2 { _ = try await call("DELETE", "sessions/\(other)", tokenHeader(token), []) }
            _ = try await call("POST", "clear_token", tokenHeader(token), [("all", "true")])

            let rows = try await service.postgres.read(
                "SELECT event, user_id, address, request_id FROM audit_events ORDER BY id"
            )
            let id = try await service.count("SELECT id::bigint AS count FROM users")
            let noted = try rows.map { row in
                let userID: Int? = try row.decodeIfPresent("user_id")
                #expect(try row.decode("address") == from)
                let who = userID == id ? "ada" : userID == nil ? "nobody" : "somebody"
                return
                    "\(try row.decode("request_id", as: String.self)) \(try row.decode("event", as: String.self)) \(who)"
            }
            #expect(
                noted == [
                    "request-1 sign_up ada", "request-3 sign_in_failed ada", "request-4 sign_in_failed nobody",
                    "request-5 sign_in ada", "request-6 password_reset_failed ada", "request-7 password_reset ada",
                    "request-8 photo_deleted ada", "request-10 account_deletion_failed ada",
                    "request-11 token_cleared ada", "request-12 sign_in ada", "request-13 sign_in ada",
                    "request-14 session_ended ada", "request-16 all_tokens_cleared ada",
                ]
            )
        }
    }

    @Test("Failures without an account are one row an hour, event and network, however many there are")
    func counted() async throws {
        try await TestService.run(settings: ["TRUSTED_PROXIES": "1"]) { service in
            _ = try await service.signUp(email: "ada@example.com", headers: [("X-Forwarded-For", "192.0.2.1")])
            let addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", "2001:db8:1::1"]
            for _ in 0..<3 {
                for (number, address) in addresses.enumerated() {
                    let headers = [("X-Forwarded-For", address)]
                    #expect(
                        try await service.signIn(email: "nobody\(number)@example.com", headers: headers).status == 401
                    )
                }
            }
            func rows() async throws -> [String] {
                try await service.postgres.read(
                    """
                    SELECT address || ' ' || count AS line FROM audit_events
                    WHERE event = 'sign_in_failed' AND user_id IS NULL ORDER BY 1
                    """
                ).map { try $0.decode("line") }
            }
            let expected = ["192.0.2.1 3", "192.0.2.2 3", "2001:db8:1::/48 3", "2001:db8::/48 6"]
            #expect(try await rows() == expected)
            // The next hour has rows of its own. What is known of an account has one for each.
            try await service.postgres.withConnection { connection in
                try await connection.execute(
                    script: """
                        ALTER TABLE audit_events DISABLE TRIGGER USER;
                        UPDATE audit_events SET hour = hour - interval '1 hour';
                        ALTER TABLE audit_events ENABLE TRIGGER USER;
                        """
                )
            }
            _ = try await service.signIn(email: "nobody@example.com", headers: [("X-Forwarded-For", "192.0.2.1")])
            #expect(try await rows() == ["192.0.2.1 1"] + expected)
            for _ in 0..<2 { _ = try await service.signIn(email: "ada@example.com", password: "wrong password") }
            #expect(try await service.count("SELECT count(*) FROM audit_events WHERE user_id IS NOT NULL") == 3)
        }
    }

    @Test("Events can't be changed, except that addresses and requests are removed")
    func appendOnly() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let refused: [PostgresQuery] = [
                "DELETE FROM audit_events", "TRUNCATE audit_events", "UPDATE audit_events SET event = 'sign_in'",
                "UPDATE audit_events SET address = '192.0.2.1'", "UPDATE audit_events SET count = count + 1",
                "UPDATE audit_events SET count = count - 1, address = NULL", "UPDATE audit_events SET hour = now()",
                "DELETE FROM audit_events WHERE happened_at > now() AT TIME ZONE 'UTC' - interval '28 days'",
                "UPDATE audit_events SET user_id = NULL, address = NULL",
                "UPDATE audit_events SET request_id = 'other', address = NULL",
                "UPDATE audit_events SET happened_at = now(), address = NULL",
            ]
            for statement in refused {
                do {
                    try await service.postgres.write(statement)
                    Issue.record("\(statement.sql) was not refused")
                } catch let error as PostgresError {
                    #expect("\(String(reflecting: error))".contains("append-only"))
                }
            }
            try await service.postgres.write("UPDATE audit_events SET address = NULL, request_id = NULL")
            let count = try await service.count(
                "SELECT count(*) FROM audit_events WHERE event = 'sign_up' AND address IS NULL"
            )
            #expect(count == 1)
        }
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
