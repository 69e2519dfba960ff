import Encodings
import JSON
import RecordSchema
import Testing

@Suite("Schema files")
struct SchemaReaderTests {
    @Test("A file with everything is read, and written as it was read")
    func everything() throws {
        let schema = try Schema(file: Array(Self.everything.utf8))
        #expect(schema.roles.map(\.name) == ["team"])
        #expect(schema.roles.map(\.manages) == [["team"]])
        #expect(schema.collections.map(\.name) == ["threads", "messages", "inbox", "bugs", "priorities"])
        let messages = try #require(schema.collection("messages"))
        #expect(messages.access == .acl)
        #expect(messages.indexes == ["threadId"])
        #expect(messages.parent?.field == "threadId")
        #expect(messages.parent?.set == "lastMessage")
        #expect(
            messages.fields == [
                Field(name: "threadId", type: .reference(to: "threads"), isRequired: true),
                Field(name: "text", type: .string(max: 4000)), Field(name: "picture", type: .photo),
            ]
        )
        #expect(messages.photoFields == ["picture"])
        #expect(schema.collection("bugs")?.isOpen == true)
        #expect(schema.collections.filter(\.hasIntegerIDs).map(\.name) == ["bugs"])
        #expect(schema.collection("bugs")?.role == "team")
        #expect(schema.managers(of: "team") == ["team"])
        #expect(try Schema(file: Array(schema.json.text.utf8)) == schema)
    }

    private static let everything = """
        {"roles": {"team": {"manages": ["team"]}},
         "collections": {
           "threads": {"access": "acl", "fields": {"lastMessage": {"type": "reference", "to": "messages"}}},
           "messages": {"access": "acl", "indexes": ["threadId"],
             "fields": {"threadId": {"type": "reference", "to": "threads", "required": true},
                        "text": {"type": "string", "max": 4000}, "picture": {"type": "photo"}},
             "parent": {"field": "threadId", "set": "lastMessage"}},
           "inbox": {"access": "inbox"},
           "bugs": {"access": "shared", "role": "team", "ids": "integer", "indexes": ["assigned", "other"], "open": true,
             "fields": {"points": {"type": "integer"}, "ratio": {"type": "number"}, "archived": {"type": "boolean"},
                        "due": {"type": "timestamp"}, "extra": {"type": "json"}, "assigned": {"type": "member"}}},
           "priorities": {"access": "published"}}}
        """

    @Test(
        "An invalid file is refused with its line and key",
        arguments: [
            ("{\n\"roles\": {},\n", 3, "", "valid JSON"),
            ("[]", 1, "", "object"),
            ("{\n\"tables\": {}}", 2, "tables", "unknown"),
            ("{\"roles\": {\n\"a b\": {}}}", 2, "roles.a b", "starts with a letter"),
            ("{\"roles\": {\"a\": {\n\"manages\": [\n\"b\"]}}}", 3, "roles.a.manages.0", "no such role"),
            ("{\"roles\": {\"a\": {\"manages\": \"a\"}}}", 1, "roles.a.manages", "array"),
            ("{\"roles\": {\"a\": {\"manages\": [\"a\", \"a\"]}}}", 1, "roles.a.manages.1", "twice"),
            ("{\"roles\": {\"a\": {},\n\"a\": {}}}", 2, "roles.a", "twice"),
            ("{\"collections\": {\n\"c\": {}}}", 2, "collections.c", "`access` is missing"),
            ("{\"collections\": {\"c\": {\n\"access\": \"all\"}}}", 2, "collections.c.access", "one of: private, acl"),
            ("{\"collections\": {\"c\": {\"access\": 1}}}", 1, "collections.c.access", "text"),
            ("{\"collections\": {\n\"photos\": {\"access\": \"acl\"}}}", 2, "collections.photos", "feed"),
            ("{\"collections\": {\"c\": {\"access\": \"shared\"}}}", 1, "collections.c", "`role` is missing"),
            (collection("\"access\": \"shared\", \"role\": \"x\""), 1, "collections.c.role", "no such role"),
            (collection("\"access\": \"acl\", \"role\": \"x\""), 1, "collections.c.role", "Only a shared"),
            (collection("\"access\": \"acl\", \"open\": true"), 1, "collections.c.open", "any object"),
            (collection("\"access\": \"acl\", \"open\": 1"), 1, "collections.c.open", "true or false"),
            (field("{}"), 1, "collections.c.fields.f", "`type` is missing"),
            (field("{\"type\": \"text\"}"), 1, "collections.c.fields.f.type", "one of: string"),
            (field("{\"type\": \"integer\", \"max\": 1}"), 1, "collections.c.fields.f.max", "Only a string"),
            (field("{\"type\": \"string\", \"max\": 0}"), 1, "collections.c.fields.f.max", "from 1 to 65536"),
            (field("{\"type\": \"string\", \"max\": 65537}"), 1, "collections.c.fields.f.max", "from 1 to 65536"),
            (field("{\"type\": \"string\", \"to\": \"c\"}"), 1, "collections.c.fields.f.to", "Only a reference"),
            (field("{\"type\": \"reference\"}"), 1, "collections.c.fields.f", "`to` is missing"),
            (field("{\"type\": \"reference\", \"to\": \"d\"}"), 1, "collections.c.fields.f.to", "no such collection"),
            (
                field("{\"type\": \"json\"}, \"g\": {\"type\": \"json\", \"x\": 1}"), 1, "collections.c.fields.g.x",
                "unknown"
            ),
            (field("{\"type\": \"json\"}}, \"indexes\": [\"f\"], \"x\": {"), 1, "collections.c.x", "unknown"),
        ]
    )
    func refusal(text: String, line: Int, key: String, words: String) throws {
        let error = try #require(throws: InvalidSchema.self) { try Schema(file: Array(text.utf8)) }
        let found = try #require(error.errors.first { $0.key == key })
        #expect(found.line == line)
        #expect(found.message.contains(words))
    }

    private static func collection(_ members: String) -> String { "{\"collections\": {\"c\": {\(members)}}}" }

    private static func field(_ field: String) -> String {
        collection("\"access\": \"acl\", \"fields\": {\"f\": \(field)}")
    }

    @Test(
        "Indexes, references and parents must fit their fields",
        arguments: [
            (
                "\"fields\": {\"f\": {\"type\": \"json\"}}, \"indexes\": [\"f\"]", "collections.c.indexes.0",
                "can't be indexed"
            ),
            ("\"fields\": {}, \"indexes\": [\"f\"]", "collections.c.indexes.0", "no such field"),
            ("\"indexes\": [\"a\", \"b\", \"c\", \"d\", \"e\"]", "collections.c.indexes", "more than 4"),
            ("\"parent\": {\"field\": \"f\"}", "collections.c.parent", "needs"),
            ("\"parent\": {\"field\": \"f\", \"set\": \"g\"}", "collections.c.parent.field", "reference"),
            (
                "\"fields\": {\"f\": {\"type\": \"reference\", \"to\": \"c\"}}, \"parent\": {\"field\": \"f\", \"set\": \"g\"}",
                "collections.c.parent.set", "refers to `c`"
            ),
            ("\"ids\": \"number\"", "collections.c.ids", "It must be \"integer\""),
            ("\"ids\": true", "collections.c.ids", "It must be \"integer\""),
            (
                "\"ids\": \"integer\"}, \"i\": {\"access\": \"inbox\", \"ids\": \"integer\"",
                "collections.i.ids", "of their senders' choice"
            ),
            (setField(isRequired: true), "collections.c.fields.g.required", "It can't be required"),
            (
                "\"fields\": {\"f\": {\"type\": \"reference\", \"to\": \"i\"}}}, \"i\": {\"access\": \"inbox\"",
                "collections.c.fields.f.to", "inbox"
            ),
        ]
    )
    func misfit(members: String, key: String, words: String) throws {
        let text = Self.collection("\"access\": \"acl\", \(members)")
        let error = try #require(throws: InvalidSchema.self) { try Schema(file: Array(text.utf8)) }
        #expect(error.errors.map(\.key) == [key])
        #expect(error.errors[0].message.contains(words))
    }

    /// A collection's own records as parents of each other, which set a field of them.
    private static func setField(isRequired: Bool) -> String {
        #"""
        "fields": {"f": {"type": "reference", "to": "c", "required": true},
            "g": {"type": "reference", "to": "c", "required": \#(isRequired)}}, "parent": {"field": "f", "set": "g"}
        """#
    }

    @Test("A schema that is applied may require what a parent sets, and then does not require it any more")
    func stored() throws {
        let text = Array(Self.collection("\"access\": \"acl\", \(Self.setField(isRequired: true))").utf8)
        let collection = try #require(try Schema(stored: text).collection("c"))
        #expect(collection.field("f")?.isRequired == true)
        #expect(collection.field("g") == Field(name: "g", type: .reference(to: "c")))
        let right = Array(Self.collection("\"access\": \"acl\", \(Self.setField(isRequired: false))").utf8)
        #expect(try Schema(file: right) == Schema(stored: text))
        #expect(try Schema(stored: right) == Schema(stored: text))
        #expect(throws: InvalidSchema.self) { try Schema(stored: Array(#"{"collections": {"c": {}}}"#.utf8)) }
    }

    @Test("As many roles, collections, indexes and fields as the limits, and not one more")
    func limits() throws {
        func roles(_ count: Int) -> String {
            "{\"roles\": {\((0..<count).map { "\"r\($0)\": {}" }.joined(separator: ","))}}"
        }
        func collections(_ count: Int) -> String {
            let each = (0..<count).map { "\"c\($0)\": {\"access\": \"acl\"}" }
            return "{\"collections\": {\(each.joined(separator: ","))}}"
        }
        func fields(_ count: Int) -> String {
            let each = (0..<count).map { "\"f\($0)\": {\"type\": \"json\"}" }
            return Self.collection("\"access\": \"acl\", \"fields\": {\(each.joined(separator: ","))}")
        }
        func name(_ length: Int) -> String { "{\"roles\": {\"\(String(repeating: "n", count: length))\": {}}}" }
        for (make, max) in [
            (roles, Schema.maxRoleCount), (collections, Schema.maxCollectionCount), (fields, Schema.maxFieldCount),
            (name, Schema.maxNameLength),
        ] {
            _ = try Schema(file: Array(make(max).utf8))
            #expect(throws: InvalidSchema.self) { try Schema(file: Array(make(max + 1).utf8)) }
        }
        _ = try Schema(file: Array("{}".utf8) + Array(repeating: 0x20, count: Schema.maxFileBytes - 2))
        #expect(throws: InvalidSchema.self) {
            try Schema(file: Array("{}".utf8) + Array(repeating: 0x20, count: Schema.maxFileBytes - 1))
        }
        #expect([Schema.maxRoleCount, Schema.maxCollectionCount, Schema.maxIndexCount] == [32, 64, 4])
        #expect([Schema.maxFieldCount, Schema.maxNameLength, Schema.maxFileBytes] == [64, 63, 1_048_576])
    }
}
