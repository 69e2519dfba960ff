import JSON
import RecordSchema
import Testing

@Suite("Data of records")
struct RecordDataTests {
    private func collection(_ members: String = "") throws -> RecordCollection {
        let text = "{\"collections\": {\"c\": {\"access\": \"acl\"\(members)}}}"
        return try #require(try Schema(file: Array(text.utf8)).collection("c"))
    }

    private func errors(_ text: String, _ collection: RecordCollection) throws -> [RecordValidationError] {
        do {
            _ = try RecordData(try JSONValue.parse(Array(text.utf8)), in: collection)
            return []
        } catch let error as InvalidRecord {
            return error.errors
        }
    }

    private static let fields = """
        , "fields": {"text": {"type": "string", "max": 3, "required": true}, "points": {"type": "integer"},
            "ratio": {"type": "number"}, "archived": {"type": "boolean"}, "due": {"type": "timestamp"}, "extra": {"type": "json"},
            "member": {"type": "member"}, "of": {"type": "reference", "to": "c"}, "picture": {"type": "photo"}}
        """

    @Test("Values of their types are taken, and what they name is found")
    func right() throws {
        let value = try JSONValue.parse(
            Array(
                """
                {"text": "äöü", "points": -9223372036854775808, "ratio": 1e-3, "archived": false, "due": "2026-11-24T10:00:00Z",
                 "extra": [{}], "member": "m", "of": "a:b", "picture": "p"}
                """.utf8
            )
        )
        let data = try RecordData(value, in: try collection(Self.fields))
        #expect(try JSONValue.parse(Array(data.text.utf8)) == value)
        #expect(data.links.map(\.field) == ["member", "of", "picture"])
        #expect(
            data.links.map(\.target) == [.member(id: "m"), .record(id: "a:b", collection: "c"), .photo(randomID: "p")]
        )
        #expect(try errors("{\"text\": \"a\", \"points\": null}", try collection(Self.fields)).isEmpty)
    }

    @Test(
        "Each field that breaks its rule is named",
        arguments: [
            ("[]", [RecordValidationError(nil, .notAnObject)]),
            ("{}", [RecordValidationError("text", .missing)]),
            ("{\"text\": null}", [RecordValidationError("text", .missing)]),
            ("{\"text\": \"abcd\"}", [RecordValidationError("text", .tooLong(maxCharacters: 3))]),
            ("{\"text\": 1, \"other\": 1}", [.init("other", .unknown), .init("text", .notA(.string(max: 3)))]),
            ("{\"text\": \"\", \"points\": 1.5}", [.init("points", .notA(.integer))]),
            ("{\"text\": \"\", \"points\": 9223372036854775808}", [.init("points", .notA(.integer))]),
            ("{\"text\": \"\", \"ratio\": \"1\"}", [.init("ratio", .notA(.number))]),
            ("{\"text\": \"\", \"archived\": 1}", [.init("archived", .notA(.boolean))]),
            ("{\"text\": \"\", \"due\": \"today\"}", [.init("due", .notA(.timestamp))]),
            ("{\"text\": \"\", \"member\": \"a b\"}", [.init("member", .notA(.member))]),
            ("{\"text\": \"\", \"of\": \"\"}", [.init("of", .notA(.reference(to: "c")))]),
            ("{\"text\": \"\", \"picture\": {}}", [.init("picture", .notA(.photo))]),
            ("{\"text\": \"\", \"extra\": [\"\\u0000\"]}", [.init("extra", .unstorable(.hasNull))]),
            ("{\"text\": \"\", \"extra\": {\"\\u0000\": 1}}", [.init("extra", .unstorable(.hasNull))]),
            ("{\"text\": \"\", \"extra\": 1e309}", [.init("extra", .unstorable(.numberOutOfRange))]),
            ("{\"text\": \"\", \"extra\": [-1e-400]}", [.init("extra", .unstorable(.numberOutOfRange))]),
        ]
    )
    func wrong(text: String, errors: [RecordValidationError]) throws {
        #expect(try self.errors(text, try collection(Self.fields)) == errors)
    }

    @Test("An open collection keeps other fields, and one without fields takes any object")
    func open() throws {
        #expect(
            try errors("{\"text\": \"a\", \"other\": 1}", try collection(Self.fields + ", \"open\": true")).isEmpty
        )
        #expect(try errors("{\"any\": [1]}", try collection()).isEmpty)
    }

    @Test("As many bytes and levels as the limits, and not one more")
    func limits() throws {
        let collection = try collection()
        func text(_ count: Int) -> String { "{\"a\": \"\(String(repeating: "x", count: count - 8))\"}" }
        #expect(try errors(text(65_536), collection).isEmpty)
        #expect(try errors(text(65_537), collection) == [RecordValidationError(nil, .tooManyBytes)])
        func nested(_ depth: Int) -> String {
            "{\"a\": \(String(repeating: "[", count: depth - 1))\(String(repeating: "]", count: depth - 1))}"
        }
        #expect(try errors(nested(16), collection).isEmpty)
        #expect(try errors(nested(17), collection) == [RecordValidationError(nil, .tooDeep)])
    }

    @Test(
        "Values that are equal have the same bytes in an index",
        arguments: [
            ("1", "1.0", FieldType.number, true), ("100", "1e2", .number, true),
            ("-0.0", "0e99999999999999999999", .number, true),
            ("0.25", "25E-2", .number, true), ("1", "-1", .number, false), ("1", "10", .number, false),
            ("1", "\"1\"", .json, false), ("null", "\"\"", .json, false), ("true", "false", .boolean, false),
            ("\"a\"", "\"A\"", .string(max: nil), false), ("9007199254740993", "9007199254740992", .integer, false),
            ("\"2026-11-24T10:00:00Z\"", "\"2026-11-24T10:00:00.000Z\"", .timestamp, true),
            ("\"2026-11-24T10:00:00Z\"", "\"2026-11-24T12:00:00+02:00\"", .timestamp, true),
            ("\"2026-11-24T10:00:00Z\"", "\"2026-11-24T10:00:00.001Z\"", .timestamp, false),
            ("\"2026-11-24T10:00:00Z\"", "\"2026-11-24T10:00:00.000Z\"", .string(max: nil), false),
        ]
    )
    func indexValues(one: String, other: String, type: FieldType, areEqual: Bool) throws {
        let values = try [one, other].map { IndexValue(try JSONValue.parse(Array($0.utf8)), of: type) }
        #expect((values[0] == values[1]) == areEqual)
    }

    @Test("A long value takes 33 bytes of an index, and differs from others like it")
    func longIndexValues() {
        let values = ["x", "y"].map { IndexValue(.string(String(repeating: "a", count: 500) + $0), of: nil) }
        #expect(values[0] != values[1])
        #expect(values.allSatisfy { $0.text.utf8.count == 65 })
        #expect(IndexValue(.string(String(repeating: "a", count: 63)), of: nil).text.utf8.count == 64)
    }

    @Test("An id is 1 to 255 letters, digits and six other characters")
    func ids() {
        for id in ["a", "A-z.0_9:~@", String(repeating: "i", count: 255)] { #expect(RecordID.isValid(id)) }
        for id in ["", "a b", "ä", "a/b", "a\0", "a,b", String(repeating: "i", count: 256)] {
            #expect(!RecordID.isValid(id))
        }
        #expect(RecordID.isValid(RecordID.make()))
        #expect(RecordID.make() != RecordID.make())
    }

    @Test("The rights are those of the contract's table")
    func accessTable() {
        let all: Rights = [.read, .write, .delete]
        #expect(Access.private.rights == [.owner: all])
        #expect(
            Access.acl.rights == [.owner: [.read, .write, .delete, .share], .reader: .read, .writer: [.read, .write]]
        )
        #expect(Access.inbox.rights == [.recipient: all, .owner: .delete])
        #expect(Access.shared.rights == [.role: [.read, .write], .managingRoles: .delete, .owner: .delete])
        #expect(Access.published.rights == [.everybody: .read, .owner: [.write, .delete]])
    }
}
