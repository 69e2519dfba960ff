import TestSupport
import Testing

@testable import Postgres

@Suite("PostgresClient")
struct PostgresClientTests {
    @Test("A statement returns rows, decoded by column name")
    func query() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let client = PostgresClient(configuration: try PostgresConfiguration(url: url))
            let rows = try await client.query("SELECT \(41) + 1 AS answer, \("text") AS words")
            #expect(try rows[0].decode("answer", as: Int.self) == 42)
            #expect(try rows[0].decode("words", as: String.self) == "text")
            await client.close()
        }
    }
}
