import Budgets
import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieApp
@testable import SelfieWeb

@Suite("What reading records may cost", .timeLimit(.minutes(2)))
struct RecordReadBudgetTests {
    private static let schema = #"{"collections":{"notes":{"access":"private","indexes":["a","b"]}}}"#

    @Test("A user who reads 4 lists with several conditions gets no other; others do, and one condition is free")
    func searches() async throws {
        let searches = WebPermits().searches
        try await TestService.runWithSchema(Self.schema, adjust: { $0.permits.searches = searches }) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/records/notes?where=\(#"{"a":1,"b":2}"#.formEncoded)"
            let one = "/api/records/notes?where=\(#"{"a":1}"#.formEncoded)"
            let acquired = try (1...4).map { _ in try searches.acquire(for: ada.userID) }
            let refused = try await service.call("GET", path, as: ada)
            #expect(refused.status == 429 && refused.code == "too_many_at_once", "\(refused.text)")
            #expect(try await service.call("GET", one, as: ada).status == 200)
            #expect(try await service.call("GET", path, as: bob).status == 200)
            withExtendedLifetime(acquired) {}
            #expect(searches.inUse == 4)
        }
        #expect(searches.inUse == 0)
    }

    @Test("Four of a user are read at once, and sixteen of all")
    func searchPermits() throws {
        let searches = WebPermits().searches
        let own = try (1...4).map { _ in try searches.acquire(for: 1) }
        #expect(throws: TooBusy.self) { try searches.acquire(for: 1) }
        let others = try (2...13).map { try searches.acquire(for: $0) }
        #expect(throws: TooBusy.self) { try searches.acquire(for: 14) }
        withExtendedLifetime((own, others)) {}
    }

    @Test("A list begins after a deleted record if its id was used at most 99 times since then")
    func manyLives() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            #expect(try await service.call("PUT", "/api/records/notes/x", as: ada, #"{"data":{}}"#).status == 200)
            #expect(try await service.call("PUT", "/api/records/notes/y", as: ada, #"{"data":{}}"#).status == 200)
            let first = try await service.call("GET", "/api/records/notes?limit=1", as: ada)
            let next = try #require(first.json["next"] as? String)
            #expect(try await service.call("DELETE", "/api/records/notes/x", as: ada).status == 200)
            func live(_ range: ClosedRange<Int>) async throws {
                try await service.postgres.write(
                    """
                    WITH lives AS (
                        INSERT INTO records (collection_id, id, owner_id, byte_count, version, created_at, deleted_at)
                        SELECT collection_id, 'x', owner_id, 0, 10 + n, now() + n * interval '1 hour', now()
                        FROM records, generate_series(\(range.lowerBound), \(range.upperBound)) AS n
                        WHERE id = 'y' RETURNING key, collection_id
                    )
                    INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, ended_at)
                    SELECT (SELECT id FROM streams WHERE user_id = \(ada.userID)), collection_id, key, 0, 1000 + key, now()
                    FROM lives
                    """
                )
            }
            try await live(1...99)
            let path = "/api/records/notes?after=\(next)"
            let page = try await service.call("GET", path, as: ada)
            #expect(page.status == 200 && page.records.compactMap { $0["id"] as? String } == ["y"], "\(page.text)")
            try await live(100...100)
            let refused = try await service.call("GET", path, as: ada)
            #expect(refused.status == 400 && refused.code == "after_invalid", "\(refused.text)")
        }
    }

    @Test("A message's id is found by an index, even if the recipient has used it very often")
    func usedOften() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/members/\(bob.id)/records/inbox/m"
            let sent = try await service.call("PUT", path, as: ada, #"{"data":{}}"#)
            #expect(try await service.call("DELETE", "/api/records/inbox/m", as: bob).status == 200)
            try await service.postgres.write(
                """
                INSERT INTO records (collection_id, recipient_id, id, owner_id, byte_count, version, deleted_at)
                SELECT collection_id, recipient_id, id, recipient_id, 0, 10 + n, now()
                FROM records, generate_series(1, 5000) AS n
                """
            )
            try await service.postgres.write("ANALYZE records")
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{}}"#).text == sent.text)
            let plan = try await service.postgres.read(
                """
                EXPLAIN SELECT FROM records WHERE collection_id = 1 AND recipient_id = \(bob.userID) AND id = 'm'
                    AND owner_id = \(ada.userID) AND deleted_at IS NOT NULL AND recipient_id > 0 LIMIT 1
                """
            ).map { try $0.decode("QUERY PLAN", as: String.self) }
            #expect(plan.contains { $0.contains("records_deleted_sender_index") }, "\(plan)")
        }
    }
}
