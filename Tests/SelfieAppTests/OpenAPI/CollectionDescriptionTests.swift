import ConnectionTestSupport
import Foundation
import JSON
import OrderedCollections
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("Collections in the API's description")
struct CollectionDescriptionTests {
    private static let schema = #"""
        {"collections":{"notes":{"access":"private","indexes":["short"],"fields":{
            "short":{"type":"string","max":3,"required":true},
            "text":{"type":"string"},"count":{"type":"integer"},"share":{"type":"number"},"done":{"type":"boolean"},
            "due":{"type":"timestamp"},"more":{"type":"json"}
        }}}}
        """#

    private static func document(_ service: TestService) async throws -> JSONValue {
        try JSONValue.parse(stored: try await service.send("GET", "/openapi.json").body)
    }

    /// What an operation takes, or answers with 200, as an example.
    private static func examples(_ operation: JSONValue?) -> (sent: JSONValue?, answered: JSONValue?) {
        let answer = operation?["responses"]?["200"]?["content"]?["application/json"]?["examples"]?["answer"]?["value"]
        return (operation?["requestBody"]?["content"]?["application/json"]?["example"], answer)
    }

    private static func first(_ value: JSONValue?) -> JSONValue? {
        if case .array(let elements)? = value { elements.first } else { nil }
    }

    @Test("A collection's calls take and answer its own sample, which the service takes")
    func samples() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let paths = try #require(try await Self.document(service)["paths"])
            let (all, one) = (paths["/api/records/notes"], paths["/api/records/notes/{id}"])
            let post = Self.examples(all?["post"])
            let sent = try #require(post.sent)
            let data = try #require(sent["data"])
            #expect(data["short"] == "a t" && data["text"] == "a text")

            let record = try #require(post.answered)
            #expect(record["collection"] == "notes" && record["data"] == data && record["id"] == "an-id")
            for method in ["get", "put", "patch"] {
                #expect(Self.examples(one?[method]).answered == record, "\(method)")
            }
            #expect(Self.first(Self.examples(all?["get"]).answered?["records"]) == record)
            #expect(Self.first(Self.examples(all?["patch"]).answered) == record)
            // The general calls keep theirs.
            let general = Self.examples(paths["/api/records/{collection}"]?["post"]).answered
            #expect(general?["collection"] == "houses")

            let ada = try await service.addMember("ada")
            let created = try await service.call(
                "POST",
                "/api/records/notes",
                as: ada,
                sent.text
            )
            #expect(created.status == 200, "\(created.text)")
            #expect(created.data["short"] as? String == "a t" && created.data.count == 7)
        }
    }

    @Test("Calls of inboxes are there while there is an inbox")
    func inboxes() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let without = try await service.send("GET", "/openapi.json").text
            #expect(without.contains("createRecords_notes") && !without.contains("InInbox"))
            #expect(!without.contains("/api/members/{member}/records"))
            let letters = #"{"collections":{"letters":{"access":"inbox"},"#
            try await service.apply(Self.schema.replacing(#"{"collections":{"#, with: letters))
            // The document looks for a new schema every two seconds.
            try await poll("the calls of the inbox") {
                try await service.send("GET", "/openapi.json").text.contains("createRecordsInInbox_letters")
            }
            let names = try #require(try await Self.document(service)["paths"]?.members).values.flatMap { item in
                (item.members ?? [:]).values.compactMap { $0["operationId"] }
            }
            // A collection of another access has none.
            #expect(names.contains("createRecords_letters") && names.contains("createRecords_notes"))
            #expect(!names.contains("createRecordsInInbox_notes"))
        }
    }
}
