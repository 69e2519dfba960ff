import Foundation
import SelfieClient
import SelfieTesting

/// The collections of the tests, as an operator's file has them.
enum TestSchema {
    static let text = #"""
        {
          "roles": {"leads": {"manages": ["team"]}, "team": {}},
          "collections": {
            "houses": {"access": "private", "indexes": ["address", "points"], "open": true,
                       "fields": {"address": {"type": "string", "required": true, "max": 20},
                                  "points": {"type": "integer"}, "photo": {"type": "photo"}}},
            "threads": {"access": "acl", "fields": {"name": {"type": "string"},
                                                    "lastMessage": {"type": "reference", "to": "messages"}}},
            "messages": {"access": "acl", "indexes": ["threadId"],
                         "fields": {"threadId": {"type": "reference", "to": "threads", "required": true},
                                    "text": {"type": "string"}, "picture": {"type": "photo"}},
                         "parent": {"field": "threadId", "set": "lastMessage"}},
            "inbox": {"access": "inbox"},
            "bugs": {"access": "shared", "role": "team"},
            "news": {"access": "published"}
          }
        }
        """#

    static func service(settings: InMemoryService.Settings = InMemoryService.Settings()) throws -> InMemoryService {
        InMemoryService(schema: try JSONDecoder().decode(RecordSchema.self, from: Data(text.utf8)), settings: settings)
    }
}

struct House: RecordFields, Equatable {
    static let collection = "houses"
    var address: String
    var points: Int?
    var photo: String?
}

struct ChatThread: RecordFields, Equatable {
    static let collection = "threads"
    var name: String
    var lastMessage: String?
}

struct Message: RecordFields, Equatable {
    static let collection = "messages"
    var threadId: String
    var text: String
    var picture: String?
}

struct Letter: RecordFields, Equatable {
    static let collection = "inbox"
    var text: String
}

struct Bug: RecordFields, Equatable {
    static let collection = "bugs"
    var title: String
}

struct News: RecordFields, Equatable {
    static let collection = "news"
    var title: String
}

/// Files that are photos by their leading bytes.
enum TestPhoto {
    static func jpeg(_ text: String) -> Data { Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data(text.utf8) }

    /// The beginning of a PNG file of 3 by 2 pixels.
    static let png =
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8)
        + Data([0, 0, 0, 3, 0, 0, 0, 2])
}

/// Waits until something holds.
func poll(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while try await !condition() {
        guard ContinuousClock.now < end else { throw PollTimeout() }
        try await Task.sleep(for: .milliseconds(5))
    }
}

struct PollTimeout: Error {}
