import JSON
import RecordSchema
import Testing

@testable import SelfieRecords
@testable import SelfieWeb

@Suite("Tables of apps that were made for DreamFactory")
struct DreamFactoryTableTests {
    private static let schema = """
        {"collections": {
            "statuses": {"access": "published", "ids": "integer", "fields": {"name": {"type": "string"}}},
            "priorities": {"access": "published", "fields": {"name": {"type": "string"}}},
            "houses": {"access": "published", "ids": "integer"},
            "boxes": {"access": "published"},
            "bugs": {"access": "published", "ids": "integer", "fields": {
                "title": {"type": "string"}, "points": {"type": "integer"}, "rate": {"type": "number"},
                "archived": {"type": "boolean"}, "user": {"type": "member"}, "any": {"type": "json"},
                "status": {"type": "reference", "to": "statuses"}, "priority": {"type": "reference", "to": "priorities"},
                "house": {"type": "reference", "to": "houses"}, "box": {"type": "reference", "to": "boxes"},
                "original": {"type": "reference", "to": "bugs"}, "others": {"type": "references", "to": "bugs"}
            }},
            "comments": {"access": "published", "indexes": ["bug"], "fields": {"bug": {"type": "reference", "to": "bugs"}}},
            "notes": {"access": "published", "fields": {"bug": {"type": "reference", "to": "bugs"}}}
        }}
        """

    private static func table(_ name: String = "bugs") throws -> DreamFactoryTable {
        let schema = try Schema(file: Array(schema.utf8))
        return DreamFactoryTable(schema: schema, collection: try #require(schema.collection(name)))
    }

    @Test(
        "Values become those of the fields' types, as in SQL",
        arguments: [
            ("title", "5", #""5""#), ("title", #""x""#, #""x""#), ("points", #""5""#, "5"), ("points", #""-5""#, "-5"),
            ("points", #""5.5""#, #""5.5""#), ("points", #""x""#, #""x""#), ("rate", #""2.5""#, "2.5"),
            ("rate", #""x""#, #""x""#), ("archived", "1", "true"), ("archived", #""0""#, "false"),
            ("archived", #""true""#, "true"), ("archived", "2", "2"), ("status", "7", #""7""#), ("user", "9", #""9""#),
            ("others", "[1,2]", #"["1","2"]"#), ("any", "5", "5"), ("unknown", "5", "5"), ("status", "null", "null"),
        ]
    )
    func stored(field: String, sent: String, stored: String) throws {
        #expect(try Self.table().stored(try JSONValue.parse(sent.utf8), of: field).text == stored)
    }

    @Test("A record has all fields, numbers for the ids of collections with numbers, and its other fields last")
    func row() throws {
        let record = StoredRecord(
            id: "3",
            collection: "bugs",
            data: #"{"more":1,"status":"7","priority":"high","others":["1","x"],"id":"no"}"#,
            owner: "o",
            readers: nil,
            writers: nil,
            version: 1,
            createdAt: "",
            updatedAt: "",
            expiresAt: nil,
            photos: []
        )
        #expect(
            JSONValue.object(try Self.table().row(record)).text == """
                {"id":3,"title":null,"points":null,"rate":null,"archived":null,"user":null,"any":null,"status":7,\
                "priority":"high","house":null,"box":null,"original":null,"others":[1,"x"],"more":1}
                """
        )
    }

    @Test(
        "Ids of before, and those that numbers can't have, stay texts",
        arguments: ["007", "-1", "x", "9007199254740992", "0"]
    )
    func oldIDs(id: String) throws {
        #expect(try Self.table().shownID(id) == .string(id))
        #expect(try Self.table().shownID("9007199254740991") == .number("9007199254740991"))
    }

    @Test(
        "Relations have DreamFactory's names",
        arguments: [
            ("status_by_status", "status"), ("statuses_by_status", "status"), ("priority_by_priority", "priority"),
            ("house_by_house", "house"), ("box_by_box", "box"), ("bug_by_original", "original"),
            ("bugs_by_original", "bugs.original"), ("comments_by_bug", "comments.bug"), ("notes_by_bug", "notes.bug"),
            ("comment_by_bug", nil), ("status_by_priority", nil), ("bugs_by_others", nil), ("status", nil), ("", nil),
            ("_by_status", nil), ("comments_by_status", nil),
        ] as [(String, String?)]
    )
    func relation(name: String, meaning: String?) throws {
        let relation = try Self.table().relation(name)
        let found: String? =
            switch relation?.kind {
            case .belongsTo(let field)?: field
            case .hasMany(let collection, let field)?: "\(collection).\(field)"
            case nil: nil
            }
        #expect(found == meaning)
        #expect(relation == nil || relation?.name == name)
    }

    @Test("All relations are those of the fields, and those of other collections with an index")
    func allRelations() throws {
        let table = try Self.table()
        let names = table.allRelations.map(\.name)
        #expect(
            names == [
                "status_by_status", "priority_by_priority", "house_by_house", "box_by_box", "bug_by_original",
                "comments_by_bug",
            ]
        )
        #expect(table.allRelations == names.compactMap { table.relation($0) })
    }
}
