import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import TestSupport
import Testing

/// A push that a service has written into its folder, as for Apple.
package struct TestPush: Sendable {
    package let device: String
    package let kind: String
    package let collection: String
    package let id: String
    package let subscription: String
    package let alert: String?
    package let badge: Int?
    /// All of the file.
    package let text: String
}

extension TestService {
    /// Begins another session of a user behind the service's back, as on another device.
    package func addSecondSession(of member: TestMember) async throws -> TestMember {
        let token = "\(UUID())"
        try await postgres.write(
            """
            INSERT INTO sessions (user_id, token_digest, expires_at)
            VALUES (\(member.userID), sha256(convert_to(\(token), 'UTF8')), \(clock.now + 24 * 3600))
            """
        )
        return TestMember(name: member.name, token: token, userID: member.userID, id: member.id)
    }

    /// Registers a device of Apple's.
    ///
    /// - Parameters:
    ///   - name: Makes the device token.
    ///   - member: Whose it is.
    /// - Returns: The device token.
    /// - Throws: What the call throws.
    @discardableResult
    package func register(_ name: Int, as member: TestMember) async throws -> String {
        let token = Self.deviceToken(name)
        let answer = try await call("PUT", "/api/devices/\(token)", as: member, #"{"platform":"apns"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        return token
    }

    /// The token of a device of Apple's.
    package static func deviceToken(_ name: Int) -> String {
        let digits = String(name, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// Adds members of the role `team` behind the service's back, each with a device and the subscriptions of a member.
    package func addSubscribers(_ count: Int, like member: TestMember) async throws {
        try await postgres.write(
            """
            WITH added AS (
                INSERT INTO users (first_name, last_name, email, password_hash)
                SELECT 'Ada', 'Lovelace', 'many' || number || '@example.com', 'none' FROM generate_series(1, \(count)) AS number
                RETURNING id
            ), member AS (
                INSERT INTO role_members (role_id, user_id)
                SELECT roles.id, added.id FROM roles, added WHERE name = 'team' RETURNING user_id
            ), session AS (
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT user_id, sha256(convert_to('many' || user_id, 'UTF8')), now() + interval '1 day' FROM member
                RETURNING id, user_id
            ), device AS (
                INSERT INTO devices (session_id, user_id, platform, token, environment)
                SELECT id, user_id, 'apns', lpad(to_hex(user_id), 64, '0'), 'production' FROM session
            )
            INSERT INTO subscriptions (user_id, name, filter_id, kinds, is_once, channel, alert, has_badge, is_silent)
            SELECT member.user_id, name, filter_id, kinds, is_once, channel, alert, has_badge, is_silent
            FROM subscriptions, member WHERE subscriptions.user_id = \(member.userID)
            """
        )
        try await postgres.write("ANALYZE")
    }

    /// Makes a subscription, and expects that it works.
    package func subscribe(_ id: String, as member: TestMember, _ body: String) async throws {
        let answer = try await call("PUT", "/api/subscriptions/\(id)", as: member, body)
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// The pushes so far, in their order, once nothing waits to be sent.
    package func pushes() async throws -> [TestPush] {
        try await poll("nothing waits") {
            try await count("SELECT count(*) FROM deliveries WHERE channel <> 'mail' AND failed_at IS NULL") == 0
        }
        let files = try? FileManager.default.contentsOfDirectory(atPath: mails.folder.path)
        return try (files ?? []).filter { $0.contains("-push-") }.sorted().map { name in
            let text = try String(contentsOf: mails.folder.appending(path: name), encoding: .utf8)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let payload = json["payload"] as? [String: Any]
            let (aps, hint) = (payload?["aps"] as? [String: Any], payload?["selfie"] as? [String: Any])
            return TestPush(
                device: json["device"] as? String ?? "",
                kind: hint?["type"] as? String ?? "",
                collection: hint?["collection"] as? String ?? "",
                id: hint?["id"] as? String ?? "",
                subscription: hint?["subscription"] as? String ?? "",
                alert: aps?["alert"] as? String,
                badge: aps?["badge"] as? Int,
                text: text
            )
        }
    }
}
