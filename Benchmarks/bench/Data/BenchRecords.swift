import Foundation
import Postgres
import RecordSchema
import SelfieRecords

/// The records that a run reads and creates.
enum BenchRecords {
    /// The user with a thousand thousand records, and the one with a hundred.
    static let manyToken = "token-\(BenchData.userCount + 3 + BenchData.uploaderTokens.count)"
    static let fewToken = "token-\(BenchData.userCount + 4 + BenchData.uploaderTokens.count)"
    static let manyCount = 1_000_000
    static let fewCount = 100

    /// The id of a user as a member.
    ///
    /// Load generators name members by it.
    static func memberID(_ number: Int) -> String {
        let digits = String(number)
        return "member" + String(repeating: "0", count: 20 - digits.count) + digits
    }

    /// Applies the schema and makes the records of those two users.
    static func make(_ client: PostgresClient) async throws {
        let schema = try Schema(file: Array(Self.schema.utf8))
        let apply = ApplySchema(postgres: client)
        guard try await apply(schema, as: try await apply.preview(schema).plan, mayShowMore: true) != nil else {
            throw BenchError.missing("schema")
        }
        try await client.withConnection { connection in
            for statement in statements { try await connection.execute(script: statement) }
        }
    }

    /// The data of a message.
    static func message(topic: String) -> String {
        #"{"topic":"\#(topic)","text":"Shall we meet at the usual place at noon? I bring the photos of the summer."}"#
    }

    /// Messages are created, notes are listed, and all users receive changes of news.
    private static let schema = """
        {
          "collections": {
            "messages": {
              "access": "acl",
              "indexes": ["topic"],
              "fields": {"topic": {"type": "string"}, "text": {"type": "string", "max": 4000}}
            },
            "notes": {"access": "private"},
            "news": {"access": "published"}
          }
        }
        """

    /// The records of the two users are mixed, as with users who write at the same time.
    private static let statements = [
        "UPDATE users SET member_id = 'member' || lpad(substring(email FROM '[0-9]+'), 20, '0')",
        "UPDATE sessions SET member_id = users.member_id FROM users WHERE users.id = user_id",
        """
        INSERT INTO records (collection_id, id, owner_id, data, byte_count)
        SELECT collections.id, 'note-' || n, users.id, ('{"text":"A note of some words, number ' || n || '"}')::json, 50
        FROM generate_series(1, \(manyCount + fewCount)) AS n
        JOIN collections ON name = 'notes'
        JOIN users ON member_id = CASE WHEN n % \(manyCount / fewCount + 1) = 0
            THEN '\(memberID(of: fewToken))' ELSE '\(memberID(of: manyToken))' END
        ORDER BY n
        """,
        """
        INSERT INTO grants (collection_id, record_key, stream_id, rights, seq, shown_seq)
        SELECT numbered.collection_id, key, streams.id, 15, number, number
        FROM (SELECT *, row_number() OVER (PARTITION BY owner_id ORDER BY key) AS number FROM records) AS numbered
        JOIN streams ON user_id = owner_id ORDER BY key
        """,
        """
        UPDATE streams SET seq = counted.count, record_count = counted.count
        FROM (SELECT stream_id, count(*) FROM grants GROUP BY stream_id) AS counted WHERE id = stream_id
        """,
    ]

    private static func memberID(of token: String) -> String {
        memberID(Int(token.drop { !$0.isNumber }) ?? 0)
    }
}
