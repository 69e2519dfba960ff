import Budgets
import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieWeb

@Suite("What calls of apps that were made for DreamFactory may cost", .timeLimit(.minutes(2)))
struct DreamFactoryBudgetTests {
    private static let schema = #"""
        {"collections": {
            "notes": {"access": "private", "ids": "integer", "indexes": ["a", "b"]},
            "parts": {"access": "private", "indexes": ["note"],
                "fields": {"note": {"type": "reference", "to": "notes"}, "text": {"type": "string"}}},
            "others": {"access": "private", "indexes": ["o1", "o2", "o3", "o4"],
                "fields": {\#((1...5).map { #""o\#($0)": {"type": "reference", "to": "notes"}"# }.joined(separator: ", "))}}
        }}
        """#

    @Test("Searches, bodies and answers take the memory and the places of their user, and give them back")
    func permits() async throws {
        let searches = WebPermits().searches
        let bodies = Permits<Int>("MEMORY", per: "USER", PermitLimits(total: 1 << 20, perHolder: 64 << 10))
        let answers = Permits<Int>("MEMORY", per: "USER", PermitLimits(total: 8 << 20, perHolder: 2 << 20))
        try await TestService.runWithSchema(
            Self.schema,
            adjust: {
                $0.permits.searches = searches
                $0.permits.recordBodies = bodies
                $0.permits.answers = answers
            }
        ) { service in
            let ada = try await service.addMember("ada")
            #expect(try await service.rest("POST", "/db/notes", as: ada, #"{"a":1,"b":2}"#).text == #"{"id":1}"#)
            let acquired = try (1...4).map { _ in try searches.acquire(for: ada.userID) }
            for query in [
                "filter=a%3D1%20AND%20b%3D2", "limit=1&offset=1", "limit=1&include_count=true",
                "limit=1&related=parts_by_note",
            ] {
                let answer = try await service.rest("GET", "/db/notes?\(query)", as: ada)
                #expect(answer.status == 429, "\(query): \(answer.text)")
            }
            #expect(try await service.rest("GET", "/db/notes?limit=1", as: ada).rowIDs == [1])
            withExtendedLifetime(acquired) {}
            // Twice its size counts.
            let large = #"{"c":"\#(String(repeating: "x", count: 40 << 10))"}"#
            #expect(try await service.rest("POST", "/db/notes", as: ada, large).status == 429)
            #expect(try await service.rest("POST", "/db/notes", as: ada, #"{"c":"x"}"#).text == #"{"id":2}"#)
            // A session holds half of what its user may.
            #expect(try await service.rest("GET", "/db/notes?limit=5", as: ada).rowIDs == [1, 2])
            #expect(try await service.rest("GET", "/db/notes", as: ada).status == 429)
        }
        #expect(searches.inUse + bodies.inUse + answers.inUse == 0)
    }

    @Test("A list ends at about a mebibyte, and what is related to it may not be more")
    func bytes() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            let text = String(repeating: "x", count: 60_000)
            for _ in 1...30 {
                #expect(try await service.rest("POST", "/db/notes", as: ada, #"{"text":"\#(text)"}"#).status == 200)
            }
            let list = try await service.rest("GET", "/db/notes", as: ada)
            #expect(list.rowIDs == Array(1...18))
            #expect(list.json["meta"] as? [String: Int] == ["next": 18])
            #expect(try await service.rest("GET", "/db/notes?offset=18", as: ada).rowIDs == Array(19...30))
            for part in 1...18 {
                let body = #"{"note":\#(part % 2 + 1),"text":"\#(text)"}"#
                #expect(try await service.rest("POST", "/db/parts", as: ada, body).status == 200)
            }
            let refused = try await service.rest("GET", "/db/notes?limit=2&related=parts_by_note", as: ada)
            #expect(refused.status == 400, "\(refused.text.prefix(200))")
            #expect(refused.message?.hasPrefix("related - more than 1000 records, or more than 1 MiB of them") == true)
            // A record that many refer to is written with each.
            let parts = try await service.rest("GET", "/db/parts?limit=9", as: ada)
            #expect(parts.rows.count == 9)
            let wide = try await service.rest("GET", "/db/parts?related=note_by_note&limit=16", as: ada)
            #expect(wide.rows.count == 9, "\(wide.rows.count)")
            #expect(wide.json["meta"] as? [String: Int] == ["next": 9])
            let ids = (3...30).map(String.init).joined(separator: ",")
            let gone = try await service.rest("DELETE", "/db/notes?ids=\(ids)&fields=*", as: ada)
            #expect(
                gone.status == 400 && gone.message?.hasPrefix("fields - these records have more than 1 MiB") == true
            )
            let changed = try await service.rest("PATCH", "/db/notes?filter=a%20IS%20NULL", as: ada, #"{"b":1}"#)
            #expect(changed.message?.hasPrefix("filter - more than 100 records fit, or more than 1 MiB") == true)
            let one = try await service.rest("GET", "/db/notes/1?related=parts_by_note&fields=id", as: ada)
            #expect((one.json["parts_by_note"] as? [Any])?.count == 9)
        }
    }

    @Test("No more than a thousand records are related to a list, of a hundred records")
    func counts() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            for _ in 1...2 {
                let notes = (1...60).map { _ in "{}" }.joined(separator: ",")
                #expect(try await service.rest("POST", "/db/notes", as: ada, #"{"record":[\#(notes)]}"#).status == 200)
            }
            let list = try await service.rest("GET", "/db/notes?related=parts_by_note&limit=500&fields=id", as: ada)
            #expect(list.rowIDs == Array(1...100))
            #expect(list.json["meta"] as? [String: Int] == ["next": 100])
            for (collection, field, count) in [("parts", "note", 10), ("others", "o1", 1)] {
                let rows = (1...100).map { _ in #"{"\#(field)":1}"# }.joined(separator: ",")
                for _ in 1...count {
                    let answer = try await service.rest("POST", "/db/\(collection)", as: ada, #"{"record":[\#(rows)]}"#)
                    #expect(answer.status == 200, "\(answer.text.prefix(200))")
                }
            }
            func status(_ related: String) async throws -> Int {
                try await service.rest("GET", "/db/notes/1?fields=id&related=\(related)", as: ada).status
            }
            #expect(try await status("parts_by_note") == 200)
            #expect(try await status("parts_by_note,others_by_o1") == 400)
            #expect(try await status("others_by_o1,others_by_o2,others_by_o3,others_by_o4") == 200)
            let unindexed = try await service.rest("GET", "/db/notes/1?related=others_by_o5", as: ada)
            #expect(unindexed.message == "filter, order - the collection has no index of o5")
        }
    }

    @Test("A list that ends after ten thousand records goes on by itself, and with an offset says that it can't")
    func limited() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            for body in [#"{"a":1,"b":2}"#, #"{"a":1,"b":3}"#, #"{"a":4,"b":2}"#] {
                #expect(try await service.rest("POST", "/db/notes", as: ada, body).status == 200)
            }
            // Ten thousand of each, before one that fits both conditions.
            for id in ["2", "3"] { try await Self.copy(id, count: 10_100, service) }
            #expect(try await service.rest("POST", "/db/notes", as: ada, #"{"a":1,"b":2}"#).text == #"{"id":4}"#)
            let filter = "filter=\("a = 1 AND b = 2".formEncoded)"
            let list = try await service.rest("GET", "/db/notes?\(filter)", as: ada)
            #expect(list.rowIDs == [1, 4], "\(list.text.prefix(300))")
            let refused = try await service.rest("GET", "/db/notes?\(filter)&offset=1", as: ada)
            #expect(refused.status == 400, "\(refused.text.prefix(300))")
            #expect(refused.message?.hasPrefix("offset - ") == true)
            let many = try await service.rest("PATCH", "/db/notes?filter=a%3D4", as: ada, #"{"b":5}"#)
            #expect(
                many.status == 400 && many.message?.hasPrefix("filter - more than 100 records fit") == true,
                "\(many.text.prefix(300))"
            )
            #expect(try await service.rest("GET", "/db/notes?limit=1&filter=b%3D5", as: ada).rowIDs.isEmpty)
        }
    }

    @Test("An offset of a list reads up to ten thousand records, and says where it ends")
    func offsets() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            #expect(try await service.rest("POST", "/db/notes", as: ada, #"{"a":1,"b":2}"#).status == 200)
            try await Self.copy("1", count: 10_500, service)
            func list(_ query: String) async throws -> (ids: Int, meta: [String: Any]) {
                let answer = try await service.rest("GET", "/db/notes?fields=id&\(query)", as: ada)
                #expect(answer.status == 200, "\(query): \(answer.text.prefix(200))")
                return (answer.rowIDs.count, answer.json["meta"] as? [String: Any] ?? [:])
            }
            let middle = try await list("limit=100&offset=9900")
            #expect(middle.ids == 100 && middle.meta["next"] as? Int == 10_000)
            let last = try await list("offset=9500")
            #expect(last.ids == 1_000 && last.meta["limited"] as? Bool == true && last.meta["next"] == nil)
            let beyond = try await service.rest("GET", "/db/notes?offset=10001", as: ada)
            #expect(beyond.status == 400)
            let several = try await list("limit=5&offset=9000&filter=\("a IN (1,2,3)".formEncoded)")
            #expect(several.ids == 5 && several.meta["next"] as? Int == 9_005)
        }
    }

    /// Adds copies of a record, behind the service's back.
    private static func copy(_ id: String, count: Int, _ service: TestService) async throws {
        try await service.postgres.write(
            """
            WITH copies AS (
                INSERT INTO records (collection_id, id, owner_id, data, byte_count)
                SELECT collection_id, (records.id::int * 100000 + n)::text, owner_id, data, byte_count
                FROM records, generate_series(1, \(count)) AS n WHERE records.id = \(id)
                RETURNING key, collection_id
            ), granted AS (
                INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, shown_seq)
                SELECT stream_id, copies.collection_id, copies.key, 15, 100 + copies.key, 100 + copies.key
                FROM copies CROSS JOIN grants WHERE record_key = (SELECT min(key) FROM records)
            )
            INSERT INTO record_index (stream_id, collection_id, field, value, record_key)
            SELECT stream_id, copies.collection_id, field, value, copies.key FROM copies JOIN record_index
                ON record_key = (SELECT key FROM records WHERE id = \(id))
            """
        )
    }
}
