import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

extension TestService {
    /// Calls the API with a user's token, and with JSON as the body if there is one.
    func call(
        _ method: String,
        _ target: String,
        token: String,
        json: String? = nil,
        contentType: String = "application/json"
    ) async throws -> HTTPAnswer {
        var headers = [("Authorization", tokenHeader(token))]
        if json != nil { headers.append(("Content-Type", contentType)) }
        return try await send(method, target, headers: headers, body: json.map { Data($0.utf8) })
    }

    /// The profile of a token's user.
    func me(_ token: String) async throws -> [String: Any] {
        let answer = try await call("GET", "/api/me", token: token)
        #expect(answer.status == 200 && answer.headers["cache-control"] == "private, no-cache")
        return answer.json
    }

    /// Changes the profile of a token's user, and expects that it works.
    @discardableResult
    func change(_ token: String, _ json: String) async throws -> [String: Any] {
        let answer = try await call("PATCH", "/api/me", token: token, json: json)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    /// The member's id of the user whom ``addSession(name:)`` has made.
    func memberID(_ name: String) async throws -> String {
        let rows = try await postgres.read("SELECT member_id FROM users WHERE email = \("\(name)@example.com")")
        return try #require(try rows.first?.decode("member_id", as: String.self))
    }

    /// Makes a member behind the service's back.
    ///
    /// - Returns: The member's id.
    @discardableResult
    func addMember(_ first: String, _ last: String, title: String = "") async throws -> String {
        let rows = try await postgres.withConnection { connection in
            try await connection.query(
                """
                INSERT INTO users (first_name, last_name, title, email, password_hash)
                VALUES (\(first), \(last), \(title), \("\(UUID())@example.com"), 'none') RETURNING member_id
                """
            )
        }
        return try #require(try rows.first?.decode("member_id", as: String.self))
    }
}
