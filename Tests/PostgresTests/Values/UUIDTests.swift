import Foundation
import ServerProcesses
import Testing

@testable import Postgres

@Suite("UUIDs")
struct UUIDTests {
    @Test(
        "A UUID goes to the server and back, and is read from a literal",
        arguments: [
            "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "00112233-4455-6677-8899-aabbccddeeff", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        ]
    )
    func roundTrips(text: String) async throws {
        let value = try #require(UUID(uuidString: text))
        #expect(try await roundTrip(value) == value)
        #expect(try await serverText(of: value) == text)
        #expect(try await read("'\(text)'::uuid") == value)
    }

    @Test("A UUID is stored in a uuid column and found again")
    func column() async throws {
        let (first, second) = (UUID(), UUID())
        try await withClient { client, _ in
            try await client.write("CREATE TABLE things (id uuid PRIMARY KEY)")
            try await client.write("INSERT INTO things VALUES (\(first)), (\(second))")
            let rows = try await client.read("SELECT id FROM things WHERE id = \(second)")
            #expect(try rows.map { try $0.decode("id", as: UUID.self) } == [second])
        }
    }

    @Test("A UUID is of 16 bytes, no more and no fewer", arguments: [0, 1, 15, 17, 36])
    func lengths(count: Int) {
        #expect(throws: UnreadableCell.malformed) {
            try UUID(postgresBytes: Array(repeating: 7, count: count)[...], type: .uuid)
        }
    }
}
