import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import Testing

@Suite("The tables by shards", .timeLimit(.minutes(1)))
struct ShardTablesTests {
    /// How many lines follow each title of the script.
    private static func counts(_ output: String) -> [String: Int] {
        var counts: [String: Int] = [:]
        var title = ""
        for line in output.split(separator: "\n") {
            if line.hasPrefix("  ") { counts[title, default: 0] += 1 } else { title = String(line) }
        }
        return counts
    }

    @Test("Each table has a place, and the document has as many conflicts as the schema")
    func places() async throws {
        let counts = try await TestCluster.withDatabase { url in
            Self.counts(try await PythonScript.run("shard_tables.py", [url]))
        }
        let document = try String(
            contentsOf: ProjectFolder.root.appending(path: "docs/scaling/sharding.md"),
            encoding: .utf8
        )
        let sentence = /(\d+) unique indexes and (\d+) foreign keys break a rule of Citus\. (\d+) triggers/
        let rules = try #require(document.firstMatch(of: sentence))
        #expect(counts["Unique indexes without the column that tells the shard:"] == Int(rules.1))
        #expect(counts["Foreign keys between rows that may be on different shards:"] == Int(rules.2))
        #expect(counts["Triggers on distributed tables:"] == Int(rules.3))
    }

    @Test("A table without a place is named")
    func newTable() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { client in
                _ = try await client.write("CREATE TABLE stray (id bigint PRIMARY KEY)")
            }
            let error = await #expect(throws: ServerProcessError.self) {
                _ = try await PythonScript.run("shard_tables.py", [url])
            }
            #expect(error.map { "\($0)".contains("These tables have no place yet: stray") } == true)
        }
    }
}
