import ConnectionTestSupport
import Encodings
import Foundation
import JSON
import Postgres
import RecordSchema
import SelfieOperations
import SelfieRecords
import ServiceTestSupport
import Testing

@Suite("What a new schema would do to records that are there", .timeLimit(.minutes(2)))
struct SchemaPreviewTests {
    @Test("The people are those who see more: not those who had the role, but those of a disabled role")
    func people() async throws {
        @Sendable func schema(_ access: String) throws -> Schema {
            let text = #"{"roles":{"team":{},"others":{}},"collections":{"notes":{\#(access)}}}"#
            return try Schema(file: Array(text.utf8))
        }
        let (team, others) = (#""access":"shared","role":"team""#, #""access":"shared","role":"others""#)
        try await TestService.runWithSchema(try schema(team).json.text) { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            _ = try await service.addMember("cleo", role: "others")
            try await service.add(bob.userID, to: "others")
            _ = try await service.addMember("dan")
            #expect(try await service.call("PUT", "/api/records/notes/n", as: ada, #"{"data":{}}"#).status == 200)
            let apply = ApplySchema(postgres: service.postgres)
            func text(_ access: String) async throws -> String {
                try await apply.preview(try schema(access)).text
            }
            #expect(try await text(others).contains("(1 record to 1 more person)"))
            #expect(try await text(#""access":"published""#).contains("(1 record to 2 more people)"))
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'team'")
            #expect(try await text(#""access":"published""#).contains("(1 record to 4 more people)"))
        }
    }

    @Test("Records created between the plan and the change are not shown to more people without --force")
    func recordsMeanwhile() async throws {
        let schema = #"{"collections":{"notes":{"access":"private"}}}"#
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada")
            let apply = ApplySchema(postgres: service.postgres)
            let wide = try Schema(file: Array(#"{"collections":{"notes":{"access":"published"}}}"#.utf8))
            let preview = try await apply.preview(wide)
            #expect(!preview.needsConfirmation)
            #expect(try await service.call("PUT", "/api/records/notes/n", as: ada, #"{"data":{}}"#).status == 200)
            #expect(try await apply(wide, as: preview.plan, mayShowMore: false) == nil)
            #expect(try await apply.preview(wide).needsConfirmation)
            #expect(try await apply(wide, as: preview.plan, mayShowMore: true) != nil)
        }
    }

    @Test("A text that becomes a photo is shown to the record's readers, and needs --force")
    func photosFromTexts() async throws {
        @Sendable func schema(_ access: String, _ type: String) throws -> Schema {
            let text = #"{"collections":{"notes":{"access":"\#(access)","fields":{"p":{"type":"\#(type)"}}}}}"#
            return try Schema(file: Array(text.utf8))
        }
        for (access, isShown) in [("acl", true), ("private", false)] {
            try await TestService.runWithSchema(try schema(access, "string").json.text) { service in
                let ada = try await service.addMember("ada")
                let body = #"{"data":{"p":"a text"}}"#
                #expect(try await service.call("PUT", "/api/records/notes/n", as: ada, body).status == 200)
                let preview = try await ApplySchema(postgres: service.postgres).preview(try schema(access, "photo"))
                #expect(preview.needsConfirmation == isShown)
                #expect(
                    preview.text.contains("(1 record with their photos to those who read them)") == isShown,
                    "\(preview.text)"
                )
            }
        }
    }
}
