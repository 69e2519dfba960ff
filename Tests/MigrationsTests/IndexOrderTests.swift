import Cryptography
import DatabaseTestSupport
import Encodings
import JSON
import Postgres
import RecordSchema
import Testing

@testable import Migrations

@Suite("Values of indexes get an order", .timeLimit(.minutes(1)))
struct IndexOrderTests {
    /// A value of a field, its field's type, and its text in an index before.
    private struct Value {
        let json: String
        var type: FieldType?
        let old: String
    }

    private static let version = "20261201000000"
    private static let long = String(repeating: "ü", count: 200)
    private static let digits = String(repeating: "123456789", count: 20)
    private static let values = [
        Value(json: "null", old: "0"), Value(json: "true", old: "b1"), Value(json: "0", old: "n0"),
        Value(json: "-0.0", old: "n0"), Value(json: "7", old: "n7e0"), Value(json: "-250", old: "n-25e1"),
        Value(json: "0.00125", old: "n125e-5"), Value(json: "-1E-300", old: "n-1e-300"),
        Value(json: "1.5e300", old: "n15e299"),
        Value(json: "9223372036854775807", type: .integer, old: "n9223372036854775807e0"),
        Value(json: digits, old: digest("n\(digits)e0")),
        Value(json: "-0.\(digits)", old: digest("n-\(digits)e-180")),
        Value(json: "\"\"", old: "s"), Value(json: "\"5\"", old: "s5"), Value(json: "\"h\"", old: "sh"),
        Value(json: "\"\(long)\"", old: digest("s\(long)")),
        Value(json: "\"\(long.prefix(100))\"", old: digest("s\(long.prefix(100))")),
        Value(json: #""2026-11-24T10:00:00Z""#, type: .timestamp, old: "t1795514400000"),
        Value(json: #""1900-01-01T00:00:00Z""#, type: .timestamp, old: "t-2208988800000"),
        Value(json: #""yesterday""#, type: .timestamp, old: "tyesterday"), Value(json: "[1]", old: "j[1]"),
        Value(json: "[\"\(long)\"]", old: digest("j[\"\(long)\"]")),
    ]

    private static func digest(_ text: String) -> String {
        "h" + SHA256.hash(Array(text.utf8)).withUnsafeBytes { $0.hexadecimal }
    }

    @Test("Values that are there get the texts that new ones have, and go back")
    func values() async throws {
        let migrations = try TestCluster.migrations()
        try await TestCluster.withEmptyDatabase { url in
            func migrator(_ migrations: [Migration]) throws -> Migrator {
                Migrator(configuration: try .patient(url: url), migrations: migrations, lock: 1)
            }
            _ = try await migrator(migrations.filter { $0.version < Self.version }).up()
            try await TestCluster.withClient(url) { client in
                for value in Self.values {
                    let data = "{\"f\":\(value.json)}"
                    try await client.write(
                        """
                        WITH added AS (
                            INSERT INTO records (collection_id, id, owner_id, data, byte_count)
                            VALUES (1, \(value.json), 1, \(data)::json, 2) RETURNING key
                        )
                        INSERT INTO record_index (stream_id, collection_id, field, value, record_key)
                        SELECT 1, 1, 'f', \(value.old), key FROM added
                        """
                    )
                }
            }
            func texts() async throws -> [String] {
                try await TestCluster.withClient(url) { client in
                    try await client.read("SELECT value FROM record_index ORDER BY record_key").map {
                        try $0.decode("value")
                    }
                }
            }
            let upTo = migrations.filter { $0.version <= Self.version }
            _ = try await migrator(upTo).up()
            let expected = try Self.values.map {
                IndexValue(try JSONValue.parse(stored: $0.json.utf8), of: $0.type).text
            }
            #expect(try await texts() == expected)
            _ = try await migrator(upTo).down(.last(1))
            // A text that is no time is as texts are.
            let old = Self.values.map { $0.old == "tyesterday" ? "syesterday" : $0.old }
            #expect(try await texts() == old)
        }
    }
}
