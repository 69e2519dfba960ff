import Testing

@testable import RecordSchema

@Suite("The plan of a new schema")
struct SchemaPlanTests {
    /// A schema with one collection, and roles of which some manage others.
    private static func schema(
        _ access: String,
        _ role: String? = nil,
        manages: [(String, [String])] = [("team", []), ("leads", ["team"]), ("others", [])]
    ) throws -> Schema {
        let roles = manages.map { name, managed in
            #""\#(name)":{"manages":[\#(managed.map { #""\#($0)""# }.joined(separator: ","))]}"#
        }.joined(separator: ",")
        let member = role.map { #","role":"\#($0)""# } ?? ""
        let text = #"{"roles":{\#(roles)},"collections":{"notes":{"access":"\#(access)"\#(member)}}}"#
        return try Schema(file: Array(text.utf8))
    }

    private static func readers(from old: Schema, to new: Schema) -> [Widening.Readers] {
        SchemaPlan(from: old, to: new).changes.compactMap(\.widening?.readers)
    }

    @Test(
        "Changes that show records to more people are marked, with these people",
        arguments: [
            ("private", nil, "published", nil, Widening.Readers.everybody),
            ("acl", nil, "published", nil, .everybody), ("shared", "team", "published", nil, .everybody),
            ("private", nil, "shared", "team", .roles(["leads", "team"])),
            ("acl", nil, "shared", "team", .roles(["leads", "team"])),
            ("shared", "team", "shared", "others", .roles(["others"])),
            ("shared", "leads", "shared", "team", .roles(["team"])),
        ]
    )
    func wider(_ old: String, _ oldRole: String?, _ new: String, _ newRole: String?, to readers: Widening.Readers)
        throws
    {
        let (before, after) = (try Self.schema(old, oldRole), try Self.schema(new, newRole))
        #expect(Self.readers(from: before, to: after) == [readers])
    }

    @Test(
        "Changes that show them to nobody else are not",
        arguments: [
            ("private", nil, "acl", nil), ("published", nil, "private", nil), ("published", nil, "acl", nil),
            ("published", nil, "shared", "team"), ("shared", "team", "private", nil), ("acl", nil, "private", nil),
            ("shared", "team", "shared", "leads"), ("shared", "team", "acl", nil),
        ] as [(String, String?, String, String?)]
    )
    func narrower(_ old: String, _ oldRole: String?, _ new: String, _ newRole: String?) throws {
        let (before, after) = (try Self.schema(old, oldRole), try Self.schema(new, newRole))
        #expect(Self.readers(from: before, to: after).isEmpty)
        #expect(!SchemaPlan(from: before, to: after).changes.isEmpty)
    }

    @Test("New managers of a role can give it to themselves, also through other roles")
    func managers() throws {
        let before = try Self.schema("shared", "team")
        let direct = try Self.schema(
            "shared",
            "team",
            manages: [("team", []), ("leads", ["team"]), ("others", ["team"])]
        )
        #expect(Self.readers(from: before, to: direct) == [.roles(["others"])])
        let indirect = try Self.schema(
            "shared",
            "team",
            manages: [("team", []), ("leads", ["team"]), ("others", ["leads"])]
        )
        #expect(Self.readers(from: before, to: indirect) == [.roles(["others"])])
        let changes = SchemaPlan(from: before, to: indirect).changes.map(\.description)
        #expect(changes.contains("more roles can reach the records of notes"))
        #expect(Self.readers(from: indirect, to: before).isEmpty)
        let circle = try Self.schema(
            "shared",
            "team",
            manages: [("team", ["leads"]), ("leads", ["team"]), ("others", [])]
        )
        #expect(Self.readers(from: before, to: circle).isEmpty)
    }

    @Test("A changed field is listed with its old and its new type")
    func fields() throws {
        func schema(_ fields: String) throws -> Schema {
            let text = #"{"collections":{"a":{"access":"private"},"notes":{"access":"private","fields":{\#(fields)}}}}"#
            return try Schema(file: Array(text.utf8))
        }
        let plan = SchemaPlan(
            from: try schema(#""text":{"type":"string","max":2000},"n":{"type":"integer"}"#),
            to: try schema(#""text":{"type":"string","max":5,"required":true},"n":{"type":"string"}"#)
        )
        #expect(
            plan.changes.map(\.description) == [
                "change the field text of notes: max 2000 -> 5, required",
                "change the field n of notes: integer -> string",
            ]
        )
    }
}
