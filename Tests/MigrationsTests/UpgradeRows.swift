import DatabaseTestSupport
import Foundation
import Postgres

/// Rows of every table, realistic ones and odd ones, with all columns that any version has.
enum UpgradeRows {
    static let liveToken = "hKuPzTtVYcTGMRY9s4fnkUWUjgV4YpBGVvLzzNuqqoA0"
    static let undatedToken = "8fRZ5Ym3nUuPqWzXc2vBnMqSdFgHjKlPoIuYtReWqAs1"

    private static let long = String(repeating: "ü", count: 255)
    private static let hash = RailsDatabase.passwordHash
    private static let digests = ["a", "b", "c"].map { "\\x" + String(repeating: "\($0)0", count: 32) }

    /// The tables in an order in which rows may refer to earlier ones.
    static let tables = [
        "users", "photos", "sessions", "object_deletions", "rate_limits", "known_addresses", "audit_events",
        "blocks",
    ]

    /// Puts rows into each table that is there.
    ///
    /// - Parameters:
    ///   - url: The database.
    ///   - version: The last migration that it has.
    /// - Throws: `PostgresError`, or an error of Foundation's.
    static func fill(_ url: String, at version: String) async throws {
        let there = try await columns(url)
        for table in tables where there[table] != nil {
            let data = try JSONSerialization.data(withJSONObject: rows(table, version: version))
            try await RailsDatabase.run(
                """
                INSERT INTO \(table) OVERRIDING SYSTEM VALUE
                SELECT * FROM json_populate_recordset(NULL::\(table), $json$\(String(decoding: data, as: UTF8.self))$json$);
                """,
                url: url
            )
        }
    }

    /// What a table holds: for each row, its values as text by column, in a fixed order.
    static func read(_ table: String, _ url: String) async throws -> [[String: String]] {
        let query = PostgresQuery(stringLiteral: "SELECT to_jsonb(t)::text AS line FROM \(table) AS t ORDER BY 1")
        return try await TestCluster.withClient(url) { client in
            try await client.read(query).map { row in
                let line = Data(try row.decode("line", as: String.self).utf8)
                let values = try JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:]
                return values.mapValues { $0 is NSNull ? "null" : "\($0)" }
            }
        }
    }

    /// The columns of each table.
    static func columns(_ url: String) async throws -> [String: Set<String>] {
        try await TestCluster.withClient(url) { client in
            let rows = try await client.read(
                """
                SELECT table_name::text AS name, column_name::text AS column_name FROM information_schema.columns
                WHERE table_schema = 'public'
                """
            )
            return try rows.reduce(into: [:]) { columns, row in
                columns[try row.decode("name"), default: []].insert(try row.decode("column_name"))
            }
        }
    }

    private static func rows(_ table: String, version: String) -> [[String: Any]] {
        switch table {
        case "users": users(version)
        case "photos": photos
        case "sessions": sessions
        case "object_deletions":
            [
                ["random_id": long, "attempts": 0, "due_at": "2026-11-21T10:00:00"],
                ["random_id": "gone", "attempts": Int(Int32.max), "due_at": "9999-12-31T23:59:59.999999"],
            ]
        case "blocks": [["user_id": 1, "blocked_user_id": 2], ["user_id": 2, "blocked_user_id": 1]]
        case "rate_limits": [["key": "signin:\(long)", "count": 7, "window_ends_at": "2026-11-21T10:15:00"]]
        case "known_addresses":
            [
                ["user_id": 1, "network": "192.0.2.0/24", "last_used_at": "2026-08-01T00:00:00"],
                ["user_id": 1, "network": "2001:db8::/64", "last_used_at": "2026-11-21T10:00:00"],
                ["user_id": Int(Int32.max), "network": "192.0.2.0/24", "last_used_at": "2026-11-21T10:00:00"],
            ]
        default:
            [
                event(1, "sign_up", user: 1, address: "192.0.2.7", request: "request-1"),
                event(2, "sign_in_failed", user: nil, address: "2001:db8::7", request: nil),
                event(3, "account_deleted", user: 4711, address: nil, request: nil),
                event(4, "sign_in", user: 1, address: nil, request: "request-ü"),
            ]
        }
    }

    private static func users(_ version: String) -> [[String: Any]] {
        // Before, e-mails are as they were typed, and tokens in the clear.
        let (isTrimmed, hasSessions) = (version >= "20261121000100", version >= "20261121000200")
        return [
            user(
                1,
                ["email": isTrimmed ? "Ada@Example.com" : " \tAda@Example.com\r\n", "password_salt": "$2a$10$abc"]
            ),
            user(
                2,
                [
                    "email": "grace@example.com", "first_name": "", "last_name": "O'Hopper \\ \"G\" 😀",
                    "disabled_at": "2026-11-20T08:00:00", "email_verification": true, "verification_code": long,
                    "api_authtoken": hasSessions ? NSNull() : liveToken, "updated_at": "2014-09-02T00:00:00.5",
                    "authtoken_expiry": hasSessions ? NSNull() : "9999-12-31T23:59:59.999999",
                ]
            ),
            user(
                Int(Int32.max),
                [
                    "first_name": long, "last_name": long, "email": String(repeating: "x", count: 243) + "@example.com",
                    "password_hash": String(repeating: "h", count: 255), "email_verification": NSNull(),
                    "api_authtoken": hasSessions ? NSNull() : undatedToken, "created_at": NSNull(),
                    "updated_at": NSNull(),
                ]
            ),
        ]
    }

    private static func user(_ id: Int, _ values: [String: Any]) -> [String: Any] {
        let usual: [String: Any] = [
            "id": id, "first_name": "Ada", "last_name": "Lovelace", "password_hash": hash, "email_verification": false,
            "created_at": "2014-09-01T10:11:12.131415", "updated_at": "2014-09-01T10:11:12.131415",
            "member_id": String(format: "%032x", id), "title": id == 1 ? "" : long, "picture_id": 4711,
            "shows_email": id == 1, "profile": ["phone": long],
        ]
        return usual.merging(values) { $1 }
    }

    private static var photos: [[String: Any]] {
        let usual: [String: Any] = [
            "name": "photo", "title": "", "user_id": 1, "state": "ready", "created_at": "2014-09-02T00:00:00",
            "updated_at": "2014-09-02T00:00:00", "is_stripped": false,
        ]
        let odd: [[String: Any]] = [
            ["id": 1, "random_id": "SvFpLv1eJ2AtBVFjWcqRMBkYq4bTQQyQjXmUQv8Kd1A", "image_url": "https://b.example/1"],
            [
                "id": 2, "random_id": long, "title": long, "name": long, "user_id": Int(Int32.max),
                "content_type": "image/png", "byte_count": 0, "image_url": long,
            ],
            [
                "id": 3, "random_id": "pending-photo", "state": "pending", "title": "grüße 😀 ' \" \\",
                "content_type": "image/jpeg", "byte_count": 1 << 40,
            ],
            ["id": 4, "random_id": "undated", "user_id": 2, "created_at": NSNull(), "updated_at": NSNull()],
        ]
        return odd.map { usual.merging($0) { $1 } }
    }

    private static var sessions: [[String: Any]] {
        [
            [
                "id": 1, "user_id": 1, "token_digest": digests[0], "expires_at": "9999-12-31T23:59:59.999999",
                "created_at": "2026-11-21T10:00:00", "device": long, "last_used_at": "2026-11-21T11:00:00.25",
                "write_count": 0,
            ],
            [
                "id": 2, "user_id": 1, "token_digest": digests[1], "expires_at": "2014-09-02T00:00:00",
                "created_at": "2014-09-01T00:00:00", "last_used_at": "2014-09-01T00:00:00", "write_count": 1,
            ],
            [
                "id": 1 << 40, "user_id": Int(Int32.max), "token_digest": digests[2], "device": "",
                "expires_at": "2026-11-30T00:00:00", "created_at": "2026-11-21T10:00:00",
                "last_used_at": "2026-11-21T10:00:00", "write_count": 1 << 40,
            ],
        ]
    }

    private static func event(_ id: Int, _ name: String, user: Int?, address: String?, request: String?) -> [String:
        Any]
    {
        [
            "id": id, "event": name, "happened_at": "2026-11-21T10:00:00.123456", "user_id": user ?? NSNull(),
            "address": address ?? NSNull(), "request_id": request ?? NSNull(), "count": 1,
        ]
    }
}
