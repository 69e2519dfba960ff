import ConnectionTestSupport
import Foundation
import Postgres
import RecordSchema
import SelfieRecords
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Collections whose ids are whole numbers", .timeLimit(.minutes(2)))
struct IntegerIDTests {
    private static let schema = #"""
        {"roles": {"team": {}}, "collections": {
            "bugs": {"access": "shared", "role": "team", "delete": "members", "ids": "integer"},
            "notes": {"access": "private", "ids": "integer"},
            "texts": {"access": "private"}
        }}
        """#

    private static func create(_ collection: String, _ service: TestService, _ member: TestMember) async throws
        -> String?
    {
        let answer = try await service.call("POST", "/api/records/\(collection)", as: member, #"{"data":{}}"#)
        return answer.json["id"] as? String
    }

    @Test("They are counted up for each collection, and no number comes again")
    func counted() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada", role: "team")
            for number in 1...3 { #expect(try await Self.create("bugs", service, ada) == "\(number)") }
            #expect(try await Self.create("notes", service, ada) == "1")
            #expect(try await service.call("DELETE", "/api/records/bugs/3", as: ada).status == 200)
            let many = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                #"[{"data":{}},{"id":"9","data":{}},{"data":{}}]"#
            )
            #expect(many.jsonArray?.compactMap { $0["id"] as? String } == ["4", "9", "5"], "\(many.text)")
            // A call that fails gives its number back.
            let refused = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                #"[{"data":{}},{"id":"9","data":{}}]"#
            )
            #expect(refused.status == 409)
            #expect(try await Self.create("bugs", service, ada) == "6")
            #expect(try await Self.create("texts", service, ada)?.count == 22)
            let mixed = try await service.call(
                "POST",
                "/api/records/notes",
                as: ada,
                #"[{"id":"2","data":{}},{"data":{}},{"data":{}}]"#
            )
            #expect(mixed.jsonArray?.compactMap { $0["id"] as? String } == ["2", "3", "4"], "\(mixed.text)")
        }
    }

    @Test("A client may choose a number, and is refused another id")
    func chosen() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada", role: "team")
            for id in ["3", "1", "9007199254740991"] {
                #expect(
                    try await service.call("PUT", "/api/records/bugs/\(id)", as: ada, #"{"data":{}}"#).status == 200
                )
            }
            let wrong = [
                "0", "01", "-1", "1.0", "1e3", "x", "9007199254740992", "99999999999999999999", "1_", "~1",
            ]
            for id in wrong {
                for (method, target, body) in [
                    ("PUT", "/api/records/bugs/\(id)", #"{"data":{}}"#),
                    ("POST", "/api/records/bugs", #"{"id":"\#(id)","data":{}}"#),
                ] {
                    let answer = try await service.call(method, target, as: ada, body)
                    #expect(answer.status == 400 && answer.code == "record_id_invalid", "\(id): \(answer.text)")
                    #expect(answer.message?.contains("a whole number from 1 to 9007199254740991") == true)
                }
                #expect(try await service.call("GET", "/api/records/bugs/\(id)", as: ada).status == 404)
            }
            // Who is not in the role learns nothing of it.
            let eve = try await service.addMember("eve")
            #expect(try await service.call("PUT", "/api/records/bugs/x", as: eve, #"{"data":{}}"#).status == 404)
            // What was chosen is left out, and does not count.
            #expect(try await [Self.create("bugs", service, ada), Self.create("bugs", service, ada)] == ["2", "4"])
        }
    }

    @Test("Numbers that somebody has taken are passed over")
    func taken() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada", role: "team")
            #expect(try await Self.create("bugs", service, ada) == "1")
            try await service.postgres.write(
                """
                INSERT INTO records (collection_id, id, owner_id, data, byte_count)
                SELECT collections.id, number::text, \(ada.userID), '{}', 2
                FROM collections CROSS JOIN generate_series(2, 12500) AS number WHERE name = 'bugs' AND number <> 5000
                """
            )
            let many = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                #"[{"data":{}},{"data":{}},{"data":{}}]"#
            )
            #expect(many.jsonArray?.compactMap { $0["id"] as? String } == ["5000", "12501", "12502"], "\(many.text)")
            #expect(try await Self.create("bugs", service, ada) == "12503")
        }
    }

    @Test("Calls at once, on two processes, get each number once and none is left out")
    func atOnce() async throws {
        try await TestService.runTwoWithSchema(Self.schema) { first, second in
            let ada = try await first.addMember("ada", role: "team")
            let ids = try await withThrowingTaskGroup(of: [String].self) { group in
                for task in 0..<8 {
                    group.addTask {
                        let service = task.isMultiple(of: 2) ? first : second
                        var ids: [String] = []
                        for round in 0..<6 {
                            let body = round.isMultiple(of: 3) ? #"[{"data":{}},{"data":{}}]"# : #"{"data":{}}"#
                            let collection = round.isMultiple(of: 2) ? "bugs" : "notes"
                            let answer = try await service.call("POST", "/api/records/\(collection)", as: ada, body)
                            #expect(answer.status == 200, "\(answer.text)")
                            let records = answer.jsonArray ?? [answer.json]
                            ids += records.compactMap { $0["id"] as? String }.map { "\(collection) \($0)" }
                        }
                        return ids
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let expected = (1...32).flatMap { ["bugs \($0)", "notes \($0)"] }
            #expect(ids.sorted() == expected.sorted())
            try await first.expectSoundStreams()
        }
    }

    @Test("A collection may begin with numbers, or end with them: its records stay as they are")
    func changed() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada", role: "team")
            for id in ["x", "1"] {
                #expect(
                    try await service.call("PUT", "/api/records/texts/\(id)", as: ada, #"{"data":{}}"#).status == 200
                )
            }
            let numbered = Self.schema.replacing(
                #""texts": {"access": "private"}"#,
                with: #""texts": {"access": "private", "ids": "integer"}"#
            )
            let plan = try await service.apply(numbered).plan
            #expect(plan.changes.map(\.description) == ["give new records of texts whole numbers as ids"])
            #expect(try await Self.create("texts", service, ada) == "2")
            #expect(try await service.call("PUT", "/api/records/texts/x", as: ada, #"{"data":{"a":1}}"#).status == 200)
            #expect(
                try await service.call("PATCH", "/api/records/texts/x", as: ada, #"{"data":{"a":2}}"#).status == 200
            )
            #expect(try await service.ids("texts", as: ada) == ["x", "1", "2"])
            let back = try await service.apply(Self.schema).plan
            #expect(back.changes.map(\.description) == ["give new records of texts texts as ids"])
            #expect(try await Self.create("texts", service, ada)?.count == 22)
        }
    }
}
