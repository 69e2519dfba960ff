import DatabaseTestSupport
import Foundation
import JSON
import RecordSchema
import Testing

@testable import Postgres
@testable import SelfieRecords

/// The plans of lists of one reader who has very many records, and of one who has a hundred.
package struct ListPlans: Sendable {
    private let postgres: PostgresClient
    private let schema: AppliedSchema
    /// How many records the reader has.
    private let recordCount: Int

    private static let schemaText = #"""
        {"collections":{"notes":{"access":"acl","indexes":["state","points","title","updated_at"],
        "fields":{"state":{"type":"string"},"points":{"type":"integer"},"title":{"type":"string"}}}}}
        """#
    /// A condition that very many records fit, one that a hundredth fits, and one that few do.
    private static let (many, some, few) = (
        #"{"state":"open"}"#, #"{"points":17}"#, #"{"title":{"prefix":"title 77"}}"#
    )

    /// Makes a database with two readers.
    ///
    /// - Parameters:
    ///   - recordCount: How many records the first one has; the second one has a hundred.
    ///   - body: Gets the plans.
    /// - Throws: What the body throws.
    package static func with(
        recordCount: Int,
        _ body: (ListPlans) async throws -> Void
    ) async throws {
        try await TestCluster.withDatabase { url in
            var configuration = try PostgresConfiguration.patient(url: url)
            configuration.statementTimeout = .seconds(300)
            try await PostgresClient.withClient(configuration: configuration) { postgres in
                let wanted = try Schema(file: Array(schemaText.utf8))
                let apply = ApplySchema(postgres: postgres)
                _ = try await apply(wanted, as: try await apply.preview(wanted).plan, mayShowMore: true)
                try await fill(recordCount, postgres)
                try await body(
                    ListPlans(
                        postgres: postgres,
                        schema: try await SchemaStore(postgres: postgres).applied(),
                        recordCount: recordCount
                    )
                )
            }
        }
    }

    private static func fill(_ count: Int, _ postgres: PostgresClient) async throws {
        let text = { (number: String) in "'s' || 'title ' || \(number)" }
        for statement in [
            """
            INSERT INTO users (first_name, last_name, email, password_hash)
            VALUES ('', '', 'many@example.com', ''), ('', '', 'few@example.com', '')
            """,
            """
            INSERT INTO records (collection_id, id, owner_id, data, byte_count)
            SELECT collections.id, 'r' || n, 1, '{}', 2 FROM collections, generate_series(1, \(count)) AS n
            """,
            """
            INSERT INTO grants (collection_id, record_key, stream_id, rights)
            SELECT records.collection_id, key, streams.id, 1 FROM records, streams
            WHERE user_id = 1 OR user_id = 2 AND key <= 100
            """,
            """
            INSERT INTO record_index (stream_id, collection_id, field, value, record_key)
            SELECT stream_id, collection_id, field, value, record_key
            FROM grants CROSS JOIN LATERAL (
                VALUES ('state', CASE WHEN record_key % 2 = 0 THEN 'sopen' ELSE 'sdone' END),
                    ('points', 'n25002' || 10 + record_key % 100),
                    ('title', \(text("record_key"))), ('updated_at', 't' || (3000000000000000 - record_key))
            ) AS indexed (field, value)
            """, "ANALYZE",
        ] { try await postgres.write(PostgresQuery(stringLiteral: statement)) }
    }

    /// What a page may read where its order answers all conditions.
    private static let pageRows = 250

    /// A list, and how many rows its plan may read of an index and of the records.
    private struct Shape {
        let conditions: [String]
        let order: String
        let maxRows: Int
    }

    private var shapes: [Shape] {
        let (page, walk) = (Self.pageRows, 2 * RecordQuery.maxLookedAtCount + 1_000)
        var shapes: [Shape] = []
        for sign in ["", "-"] {
            for order in ["created", "state", "points", "title", "updated_at"] {
                shapes.append(Shape(conditions: [], order: sign + order, maxRows: page))
            }
            for (condition, order) in [
                (Self.many, "created"), (Self.some, "created"), (Self.few, "title"), (Self.some, "points"),
                (#"{"points":{"in":[11,12,13,14,15,16,17,18,19,21,22,23,24,25,26,27,28,29,31,32]}}"#, "created"),
                (#"{"points":{"in":[11,12,13,14,15,16,17,18,19,21,22,23,24,25,26,27,28,29,31,32]}}"#, "points"),
                (#"{"points":{">":21}}"#, "points"), (#"{"points":{">=":21,"<":92}}"#, "points"),
                (#"{"title":{"<=":"title 5"}}"#, "title"), (#"{"state":{"prefix":"o"}}"#, "state"),
            ] {
                shapes.append(Shape(conditions: [condition], order: sign + order, maxRows: page))
            }
            for (conditions, order) in [
                ([Self.many], "updated_at"), ([Self.some], "title"), ([Self.few], "created"),
                ([Self.many, Self.some], "created"),
                ([Self.many, Self.few], "points"), ([Self.many, #"{"points":{">":50}}"#], "updated_at"),
                ([#"{"points":{">":50}}"#], "created"), ([Self.many, Self.some, Self.few], "-updated_at"),
            ] {
                shapes.append(
                    Shape(
                        conditions: conditions,
                        order: sign.isEmpty ? order : "-" + order.replacing("-", with: ""),
                        maxRows: walk
                    )
                )
            }
        }
        return shapes
    }

    private func query(_ shape: Shape, after: String? = nil, counts: Bool = false) throws -> RecordQuery {
        RecordQuery(
            conditions: try shape.conditions.flatMap { text -> [FieldCondition] in
                guard case .object(let members) = try JSONValue.parse(text.utf8) else { return [] }
                return try members.map { try FieldCondition($0.key, $0.value) }
            },
            order: try #require(RecordQuery.Order(shape.order)),
            after: after.flatMap(RecordQuery.Position.init),
            counts: counts
        )
    }

    /// Expects of each list that its plans read few rows, at its beginning and behind a page.
    ///
    /// - Throws: `PostgresError`.
    package func expectAll() async throws {
        let store = RecordStore(postgres: postgres)
        let reader = RecordReader(userID: 1, collection: try schema.collection("notes"))
        for shape in shapes {
            let walk = try await store.walk(try query(shape), for: reader)
            let page = try #require(try await store.page(walk, schema: schema))
            let next = try await store.walk(try query(shape, after: page.next), for: reader)
            for (name, statement) in [
                ("page", RecordListStatement(walk: walk).page), ("next page", RecordListStatement(walk: next).page),
            ] {
                try await expect(statement, atMost: shape.maxRows, "\(name) of \(shape)")
            }
            let count = RecordListStatement(walk: walk).count
            try await expect(count, atMost: 5 * RecordQuery.maxLookedAtCount, "count of \(shape)")
            if walk.dependsOnSizes {
                try await expect(walk.sizes, atMost: RecordQuery.maxLookedAtCount + 1, "sizes of \(shape)")
            }
        }
    }

    /// Measures how long pages of 50 of the reader with very many records take, compared with the other's.
    ///
    /// Both take turns, as prepared statements. Lists of which one has fewer records are left out.
    ///
    /// - Returns: The ratio of the medians, by list.
    /// - Throws: `PostgresError`.
    package func ratios() async throws -> [(shape: String, ratio: Double)] {
        let store = RecordStore(postgres: postgres)
        let collection = try schema.collection("notes")
        var ratios: [(String, Double)] = []
        for shape in shapes where shape.maxRows == Self.pageRows {
            var times: [[Duration]] = [[], []]
            for _ in 0..<300 {
                for user in 1...2 {
                    let walk = try RecordWalk(try query(shape), by: RecordReader(userID: user, collection: collection))
                    let start = ContinuousClock.now
                    let page = try await store.page(walk, schema: schema)
                    if page?.rows.count == RecordQuery.usualLimit { times[user - 1].append(.now - start) }
                }
            }
            guard times.allSatisfy({ !$0.isEmpty }) else { continue }
            let medians = times.map { $0.sorted()[$0.count / 2] }
            ratios.append(("\(shape.conditions) by \(shape.order)", medians[0] / medians[1]))
        }
        return ratios
    }

    private func expect(_ statement: PostgresQuery, atMost maxRows: Int, _ what: String) async throws {
        let rows = try await postgres.read("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) \(part: statement)")
        let json = try rows[0].decode("QUERY PLAN", as: PostgresJSON.self).utf8
        let plans = try JSONSerialization.jsonObject(with: Data(json)) as? [[String: Any]]
        var scans: [(String, Double)] = []
        func visit(_ node: [String: Any]) {
            if let table = node["Relation Name"] as? String, ["grants", "record_index", "records"].contains(table) {
                let loops = node["Actual Loops"] as? Double ?? 0
                let kept = node["Actual Rows"] as? Double ?? 0
                let removed = node["Rows Removed by Filter"] as? Double ?? 0
                scans.append(("\(node["Node Type"] ?? "") \(node["Index Name"] ?? table)", (kept + removed) * loops))
            }
            for child in node["Plans"] as? [[String: Any]] ?? [] { visit(child) }
        }
        visit(plans?.first?["Plan"] as? [String: Any] ?? [:])
        #expect(
            !scans.isEmpty && scans.allSatisfy { !$0.0.hasPrefix("Seq Scan") && $0.1 <= Double(maxRows) },
            "\(what): \(scans)"
        )
    }
}
