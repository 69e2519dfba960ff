import ConnectionTestSupport
import ServiceTestSupport
import Testing

/// Whose references keep a record from being deleted, beside those that ``SharingTests`` has.
@Suite("References that hold a record, and those that don't", .timeLimit(.minutes(2)))
struct HoldingTests {
    private static let thread = "/api/records/threads/t"

    @Test("A message with a reference reveals nothing of what the recipient does, and does not hold its target")
    func messages() async throws {
        let schema = """
            {"collections":{
                "threads":{"access":"acl"},
                "mail":{"access":"inbox","fields":{"ref":{"type":"reference","to":"threads"}}}
            }}
            """
        try await TestService.runWithSchema(schema) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let body = #"{"data":{},"readers":["\#(bob.id)"]}"#
            let end = #"{"expires_at":"2999-01-01T00:00:00Z"}"#
            #expect(try await service.call("PUT", Self.thread, as: ada, body).status == 200)
            for id in ["m1", "m2"] {
                let path = "/api/members/\(bob.id)/records/mail/\(id)"
                #expect(try await service.call("PUT", path, as: ada, #"{"data":{"ref":"t"}}"#).status == 200)
            }
            #expect(try await service.call("PATCH", Self.thread, as: ada, end).status == 200)
            #expect(try await service.call("DELETE", "/api/records/mail/m1", as: bob).status == 200)
            #expect(try await service.call("PATCH", Self.thread, as: ada, end).status == 200)
            // Nor does what the recipient makes of it.
            for data in [#"{"data":{"ref":null}}"#, #"{"data":{"ref":"t"}}"#] {
                #expect(try await service.call("PATCH", "/api/records/mail/m2", as: bob, data).status == 200)
            }
            #expect(try await service.call("DELETE", Self.thread, as: ada).status == 200)
            try await service.expectSoundStreams()
        }
    }

    @Test("A reference counts for the user who set it, not for the owner of its record")
    func setter() async throws {
        let schema = """
            {"roles":{"team":{}},"collections":{
                "threads":{"access":"acl"},
                "cards":{"access":"shared","role":"team","open":true,
                    "fields":{"ref":{"type":"reference","to":"threads"}}}
            }}
            """
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada", role: "team")
            let rob = try await service.addMember("rob", role: "team")
            let card = "/api/records/cards/c"
            let (set, unset) = (#"{"data":{"ref":"t"}}"#, #"{"data":{"ref":null}}"#)
            for (names, setter, holds) in [("readers", rob, false), ("writers", rob, true), ("readers", ada, true)] {
                let body = #"{"data":{},"\#(names)":["\#(rob.id)"]}"#
                #expect(try await service.call("PUT", Self.thread, as: ada, body).status == 200)
                #expect(try await service.call("PUT", card, as: ada, #"{"data":{}}"#).status == 200)
                #expect(try await service.call("PATCH", card, as: setter, set).status == 200)
                // Another field changes, and the reference stays whose it was.
                for member in [ada, rob] {
                    #expect(try await service.call("PATCH", card, as: member, #"{"data":{"n":1}}"#).status == 200)
                }
                let expected = holds ? 409 : 200
                let what = "\(names), set by \(setter.name)"
                #expect(try await service.call("DELETE", Self.thread, as: ada).status == expected, "\(what)")
                #expect(try await service.call("PATCH", card, as: ada, unset).status == 200)
                _ = try await service.call("DELETE", Self.thread, as: ada)
            }
            try await service.expectSoundStreams()
        }
    }
}
