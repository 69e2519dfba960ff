import Foundation
import SelfieWeb
import ServiceTestSupport

extension SampleService {
    /// The documentation's schema, with a collection that has a field of each type.
    static var schema: String {
        get throws {
            let inbox = #""inbox": {"access": "inbox"},"#
            return try TestService.exampleSchema.replacing(inbox, with: inbox + everything)
        }
    }

    private static let everything = """
        "everything": {
          "access": "acl",
          "indexes": ["text", "whole", "who", "house"],
          "fields": {
            "text": {"type": "string"}, "whole": {"type": "integer"}, "number": {"type": "number"},
            "flag": {"type": "boolean"}, "time": {"type": "timestamp"}, "any": {"type": "json"},
            "who": {"type": "member"}, "house": {"type": "reference", "to": "houses"}, "photo": {"type": "photo"}
          }
        },
        """

    /// The collections that requests to a call are about; nil for a call that is about none.
    ///
    /// They are shared in different ways.
    static func collections(of endpoint: Endpoint) -> [String?] {
        guard endpoint.path.contains("/:collection") else { return [nil] }
        return endpoint.path.hasPrefix("/api/members/") ? ["inbox"] : ["everything", "bugs", "messages"]
    }

    /// The fields of a record, with their values as JSON.
    func fields(of collection: String) -> [(String, String)] {
        switch collection {
        case "everything":
            [
                ("text", #""Hello""#), ("whole", "7"), ("number", "1.5"), ("flag", "true"),
                ("time", #""2026-11-24T10:00:00Z""#), ("any", #"{"a":[1]}"#), ("who", #""\#(bob.id)""#),
                ("house", #""record-1""#), ("photo", #""\#(photoID)""#),
            ]
        case "bugs":
            [
                ("title", #""Hello""#), ("points", "3"), ("archived", "false"), ("due", #""2026-11-24T10:00:00Z""#),
                ("assignedUser", #""\#(bob.id)""#), ("component", #""record-1""#), ("priority", #""record-1""#),
                ("severity", #""record-1""#), ("status", #""record-1""#),
            ]
        case "messages": [("threadId", #""record-1""#), ("text", #""Hello""#)]
        case "comments": [("bug", #""record-1""#), ("text", #""Hello""#)]
        case "houses": [("address", #""12 Rose Street""#), ("comment", #""Hello""#)]
        case "inbox": [("text", #""Hello""#), ("any", #"{"a":[1]}"#)]
        case "news": [("title", #""Hello""#), ("text", #""Hello""#)]
        case "threads": [("title", #""Hello""#)]
        default: [("name", #""Hello""#)]
        }
    }

    /// Puts a record into each collection, and more into those that requests are about.
    func addRecords() async throws {
        for collection in [
            "threads", "messages", "houses", "everything", "inbox", "components", "severities", "priorities",
            "statuses", "bugs", "comments", "news",
        ] {
            try await put("record-1", collection)
        }
        for collection in ["everything", "bugs", "messages", "inbox"] {
            let records = (1...100).map { number in
                SampleRequest.object([
                    ("id", #""many-\#(number)""#), ("data", SampleRequest.object(fields(of: collection))),
                ])
            }
            let body = "[\(records.joined(separator: ","))]"
            try await send("POST", "/api/records/\(collection)", SampleRequest.json, Data(body.utf8))
        }
    }

    /// Puts a record of Ada's.
    func put(_ id: String, _ collection: String) async throws {
        let body = SampleRequest.object([("data", SampleRequest.object(fields(of: collection)))])
        try await send("PUT", "/api/records/\(collection)/\(id)", SampleRequest.json, Data(body.utf8))
    }
}
