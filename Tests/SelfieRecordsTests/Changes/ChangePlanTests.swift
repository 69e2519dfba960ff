import DatabaseTestSupport
import RecordSchema
import Testing

@testable import Postgres
@testable import SelfieRecords

@Suite("Plans of what reads changes", .timeLimit(.minutes(1)))
struct ChangePlanTests {
    private static let schema = #"{"collections":{"notes":{"access":"private"},"messages":{"access":"acl"}}}"#

    /// Half of the grants have ended.
    private static let rows: [PostgresQuery] = [
        """
        INSERT INTO users (first_name, last_name, email, password_hash, member_id)
        SELECT '', '', n || '@example.com', '', lpad(n::text, 22, 'm') FROM generate_series(1, 50) AS n
        """,
        """
        INSERT INTO records (collection_id, id, owner_id, data, byte_count)
        SELECT collections.id, 'r' || n, users.id, '{}', 2 FROM users, generate_series(1, 5000) AS n, collections
        WHERE name = 'messages' AND users.id = n % 50 + 1
        """,
        """
        INSERT INTO grants (collection_id, record_key, stream_id, rights, seq, shown_seq)
        SELECT records.collection_id, key, streams.id, CASE WHEN key % 2 = 0 THEN 1 ELSE 0 END,
            row_number() OVER (PARTITION BY streams.id ORDER BY key), 1
        FROM records, streams WHERE user_id <= 2
        """,
    ]

    @Test("They look up by index, even before anybody has counted the rows", arguments: [false, true])
    func indexes(hasCounted: Bool) async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                let apply = ApplySchema(postgres: postgres)
                let wanted = try Schema(file: Array(Self.schema.utf8))
                _ = try await apply(wanted, as: try await apply.preview(wanted).plan, mayShowMore: true)
                for statement in Self.rows { try await postgres.write(statement) }
                if hasCounted { try await postgres.write("ANALYZE") }
                let schema = try await SchemaStore(postgres: postgres).applied()
                let reader = ChangeReader(userID: 1, sessionID: 1)
                let whole = ChangeStatement(ChangeQuery(collections: nil), from: .beginning, by: reader, schema: schema)
                let end = StreamEnd(number: 1, postgresStart: 1)
                let position = ChangeCursor.Position(number: 1, end: end, begun: nil)
                let shared = ComparisonStatement(
                    streams: [1: position],
                    read: [1],
                    readers: [(reader, [])],
                    schema: schema
                )
                for statement in [whole.text, shared.text] {
                    try await expectIndexes(statement, hasCounted: hasCounted, postgres)
                }
            }
        }
    }

    @Test("The server plans the comparison once for one stream and once for several, with and without roles")
    func genericPlans() async throws {
        try await TestCluster.withDatabase { url in
            // Behind a pooler, nothing is prepared.
            let configuration = try PostgresConfiguration.direct(url: url, maxConnections: 1)
            try await PostgresClient.withClient(configuration: configuration) { postgres in
                let schema = try await SchemaStore(postgres: postgres).applied()
                let position = ChangeCursor.Position(
                    number: 1,
                    end: StreamEnd(number: 1, postgresStart: 1),
                    begun: nil
                )
                for round in 1...48 {
                    let ids = 1...1 + round % 2 * round
                    let statement = ComparisonStatement(
                        streams: Dictionary(uniqueKeysWithValues: ids.map { ($0, position) }),
                        read: Set(ids.prefix(round)),
                        readers: (0..<round).map {
                            (ChangeReader(userID: $0, sessionID: nil), round % 4 < 2 || $0 % 2 == 0 ? nil : [1])
                        },
                        schema: schema
                    )
                    _ = try await postgres.read(statement.text)
                }
                let rows = try await postgres.read(
                    """
                    SELECT custom_plans, generic_plans FROM pg_prepared_statements
                    WHERE statement LIKE '%changed_readers%' AND statement NOT LIKE '%pg_prepared_statements%'
                    """
                )
                #expect(rows.count == 4)
                for row in rows {
                    #expect(try row.decode("custom_plans", as: Int.self) <= 5)
                    #expect(try row.decode("generic_plans", as: Int.self) >= 7)
                }
            }
        }
    }

    private func expectIndexes(
        _ statement: PostgresQuery,
        hasCounted: Bool,
        _ postgres: PostgresClient
    ) async throws {
        let rows = try await postgres.read("EXPLAIN \(part: statement)")
        let plan = try rows.map { try $0.decode("QUERY PLAN", as: String.self) }
        let scans = plan.indices.filter { plan[$0].contains(/Scan (.* )?on (grants|records)\b/) }
        #expect(scans.count > 1)
        let text = plan.joined(separator: "\n")
        for condition in scans.map({ plan.dropFirst($0 + 1).first ?? "" }) {
            #expect(condition.contains(/Cond: .*(key|stream_id) =/), "\(text)")
        }
        // A bitmap would have all that is left of a stream read for each page. In small tables that nobody has counted, it may.
        #expect(!hasCounted || !text.contains("Bitmap Index Scan on grants_seq_key"), "\(text)")
    }
}
