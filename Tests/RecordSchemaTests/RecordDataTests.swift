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

    @Test("A long value keeps 128 characters, and differs from others like it", arguments: ["a", "ü", "\u{1F600}"])
    func longIndexValues(character: String) {
        func value(_ count: Int, _ end: String = "") -> IndexValue {
            IndexValue(.string(String(repeating: character, count: count) + end), of: nil)
        }
        #expect(value(500, "x") != value(500, "y"))
        #expect(value(500).text.unicodeScalars.count == 1 + 128 + 64 && value(500).text.utf8.count <= 580)
        #expect(value(128).text == "s" + String(repeating: character, count: 128))
    }

    @Test("Texts of an index have the order of their values")
    func indexOrder() throws {
        let ordered = [
            "null", "false", "true", "[1]", "-1e300", "-9223372036854775808", "-100.5", "-100", "-99", "-10", "-9.99",
            "-1.5",
            "-1.25", "-1", "-0.5", "-0.05", "-1e-300", "0", "1e-300", "0.05", "0.5", "0.51", "1", "1.25", "1.5", "9.99",
            "10", "99", "100", "100.5", "9223372036854775807", "1e300", "\"\"", "\"A\"", "\"a\"", "\"a\\u0001\"",
            "\"aa\"",
            "\"ab\"", "\"b\"", "\"e\u{301}\"", "\"é\"", "\"漢\"", "\"\u{FFFD}\"", "\"\u{1F600}\"",
        ]
        let texts = try ordered.map { IndexValue(try JSONValue.parse($0.utf8), of: nil).text }
        for (one, other) in zip(texts, texts.dropFirst()) {
            #expect(one.utf8.lexicographicallyPrecedes(other.utf8), "\(one) \(other)")
        }
        let times = [
            "0000-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
        ]
        .map { IndexValue(.string($0), of: .timestamp).text }
        #expect(times == times.sorted() && Set(times.map(\.utf8.count)) == [17])
    }

    @Test(
        "A range has just the values that compare so, of one kind",
        arguments: [
            (IndexRange.Comparison.greater, ["3", "4"]), (.notLess, ["2", "3", "4"]), (.less, ["-1", "1"]),
            (.notGreater, ["-1", "1", "2"]),
        ]
    )
    func ranges(comparison: IndexRange.Comparison, expected: [String]) throws {
        let all = try ["null", "true", "-1", "1", "2", "3", "4", "\"2\"", "[2]"].map {
            ($0, IndexValue(try JSONValue.parse($0.utf8), of: nil).text)
        }
        let range = try #require(IndexRange(comparison, IndexValue(.number("2.0"), of: nil)))
        #expect(all.filter { range.contains($0.1) }.map(\.0) == expected)
        for value: JSONValue in [.null, true, ["a"], ["a": 1]] {
            #expect(IndexRange(comparison, IndexValue(value, of: nil)) == nil)
        }
    }

    @Test(
        "A prefix has just the texts that begin with it",
        arguments: [
            ("", ["", "a", "az", "b", "\u{D7FF}", "\u{E000}", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}"]),
            ("a", ["a", "az"]),
            ("\u{D7FF}", ["\u{D7FF}"]), ("\u{10FFFF}", ["\u{10FFFF}", "\u{10FFFF}\u{10FFFF}"]),
        ]
    )
    func prefixes(prefix: String, expected: [String]) {
        let all = ["", "a", "az", "b", "\u{D7FF}", "\u{E000}", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}"]
        let range = IndexRange(prefix: prefix)
        #expect(all.filter { range.contains(IndexValue(.string($0), of: nil).text) } == expected)
        #expect(!range.contains(IndexValue(.number("1"), of: nil).text))
        #expect(!range.contains(IndexValue(Timestamp(milliseconds: 0)).text))
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
        #expect(
            Access.shared.rights
                == [.role: [.read, .write], .readingRole: .read, .managingRoles: .delete, .owner: .delete]
        )
        #expect(Access.published.rights == [.everybody: .read, .owner: [.write, .delete]])
    }
}

extension IndexRange {
    fileprivate func contains(_ text: String) -> Bool {
        !text.utf8.lexicographicallyPrecedes(lower.utf8) && text.utf8.lexicographicallyPrecedes(upper.utf8)
    }
}
