import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("Patches of records in memory")
struct RecordPatchTests {
    @Test("A patch changes what it names, and a null removes it")
    func merge() async throws {
        let ada = try await ServiceCaller(TestSchema.service(), as: "ada@example.com")
        _ = try await ada.send(
            "PUT",
            "records/houses/h",
            #"{"data":{"address":"a","points":1,"more":{"x":1,"y":[1,{"z":null}]},"gone":true}}"#
        )
        let patched = try await ada.send(
            "PATCH",
            "records/houses/h",
            #"{"data":{"points":2,"gone":null,"more":{"x":null,"y":[2],"deep":{"new":1,"none":null}},"never":null}}"#
        )
        #expect(patched.status == 200 && patched.response.headers["etag"] == "\"2\"")
        let data: JSONValue = ["address": "a", "points": 2, "more": ["y": [2], "deep": ["new": 1]]]
        #expect(patched.json["data"] == data && patched.json["version"] == 2)
        #expect(try await ada.send("GET", "records/houses/h").json == patched.json)
        // Without data, only what is sent changes.
        let expiring = try await ada.send("PATCH", "records/houses/h", #"{"expires_at":"2999-01-01T00:00:00Z"}"#)
        #expect(expiring.json["data"] == data && expiring.json["expires_at"] == "2999-01-01T00:00:00.000Z")
        #expect(try await ada.send("PATCH", "records/houses/h", #"{"data":{}}"#).json["expires_at"] != .null)
        let kept = try await ada.send("PATCH", "records/houses/h", #"{"expires_at":null}"#)
        #expect(kept.json["expires_at"] == .null && kept.json["version"] == 5)
    }

    @Test("The rules hold for the record as the patch makes it")
    func rules() async throws {
        let ada = try await ServiceCaller(TestSchema.service(), as: "ada@example.com")
        _ = try await ada.send("PUT", "records/houses/h", #"{"data":{"address":"a","points":1}}"#)
        let refusals = [
            #"{"data":{"address":null}}"#: "400 record_invalid: address - is missing,",
            #"{"data":{"points":"x"}}"#: "400 record_invalid: points - must be an integer,",
            #"{"data":[]}"#: "400 record_malformed: data - must be an object,",
            #"{"data":{},"x":1}"#: "400 record_malformed: x - is unknown,",
            #"{"address":"b"}"#:
                "400 record_malformed: data - is missing, and address is unknown: the record's fields belong in data,",
            #"{"id":"other","data":{}}"#: "400 record_malformed: id - differs from the path,",
            #"{"readers":[]}"#:
                "400 readers_not_allowed: Records of this collection have no readers and writers",
            #"{"readers":null}"#: "400 record_malformed: readers - must be an array,",
            #"{"expires_at":"soon"}"#:
                "400 record_malformed: expires_at - must be a time such as 2026-11-24T10:00:00Z, or null,",
            #"{"expires_at":"2001-01-01T00:00:00Z"}"#: "400 expires_at_invalid: expires_at - must be in the future,",
            "[]": "400 record_malformed: the body - must be an object,",
            "{": "400 json_malformed: The request's JSON is malformed",
        ]
        for (body, refusal) in refusals {
            #expect(try await ada.send("PATCH", "records/houses/h", body).refusal == refusal, "\(body)")
        }
        let growth = String(repeating: "x", count: 40_000)
        _ = try await ada.send("PATCH", "records/houses/h", #"{"data":{"first":"\#(growth)"}}"#)
        #expect(
            try await ada.send("PATCH", "records/houses/h", #"{"data":{"second":"\#(growth)"}}"#).refusal
                == "413 record_too_large: A record's data has at most 65536 bytes"
        )
        #expect(try await ada.send("GET", "records/houses/h").json["version"] == 2)
    }

    @Test("A patch creates nothing, and needs the version and the rights")
    func conditions() async throws {
        let service = try TestSchema.service()
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        let bob = try await ServiceCaller(service, as: "bob@example.com")
        let missing = "404 record_not_found: There is no such record"
        #expect(try await ada.send("PATCH", "records/threads/t", #"{"data":{}}"#).refusal == missing)
        _ = try await ada.send("PUT", "records/threads/t", #"{"data":{"name":"1"}}"#)
        #expect(try await bob.send("PATCH", "records/threads/t", #"{"data":{}}"#).refusal == missing)
        let readers = #"{"readers":["\#(bob.memberID)"]}"#
        #expect(try await ada.send("PATCH", "records/threads/t", readers).json["readers"] == [.string(bob.memberID)])
        let forbidden = "403 record_forbidden: You may not do this with the record"
        let change = #"{"data":{"name":"2"}}"#
        // The right comes before the version.
        #expect(
            try await bob.send("PATCH", "records/threads/t", change, headers: ["If-Match": "\"1\""]).refusal
                == forbidden
        )
        let writers = #"{"writers":["\#(bob.memberID)"]}"#
        let shared = try await ada.send("PATCH", "records/threads/t", writers)
        #expect(shared.json["writers"] == [.string(bob.memberID)] && shared.json["data"] == ["name": "1"])
        #expect(
            try await bob.send("PATCH", "records/threads/t", change, headers: ["If-Match": "\"2\""]).refusal
                == "412 record_version_differs: The record does not match If-Match or If-None-Match"
        )
        let changed = try await bob.send("PATCH", "records/threads/t", change, headers: ["If-Match": "W/\"3\""])
        #expect(changed.json["data"] == ["name": "2"] && changed.json["readers"] == nil)
        #expect(try await bob.send("PATCH", "records/threads/t", #"{"readers":[]}"#).refusal == forbidden)
        #expect(
            try await bob.send("PATCH", "records/threads/t", #"{"expires_at":"2999-01-01T00:00:00Z"}"#).refusal
                == forbidden
        )
        #expect(
            try await ada.send("PATCH", "records/threads/t", change, headers: ["If-Match": "4"]).refusal
                == #"400 if_match_invalid: If-Match - must be a version in quotes, such as "3", or *,"#
        )
    }

    @Test("The recipient patches a message, and its sender learns nothing")
    func inbox() async throws {
        let service = try TestSchema.service()
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        let bob = try await ServiceCaller(service, as: "bob@example.com")
        let sent = "members/\(bob.memberID)/records/inbox/m"
        let first = try await ada.send("PUT", sent, #"{"data":{"text":"Hi"}}"#)
        let read = try await bob.send("PATCH", "records/inbox/m", #"{"data":{"isRead":true}}"#)
        #expect(read.json["data"] == ["text": "Hi", "isRead": true] && read.json["version"] == 2)
        #expect(try await ada.send("PUT", sent, #"{"data":{"text":"Hi"}}"#).json == first.json)
        #expect(
            try await ada.send("PATCH", sent, #"{"data":{"text":"Ho"}}"#).refusal
                == "403 record_forbidden: You may not do this with the record"
        )
        let missing = "404 record_not_found: There is no such record"
        let unsent = "members/\(bob.memberID)/records/inbox/n"
        #expect(try await ada.send("PATCH", unsent, #"{"data":{}}"#).refusal == missing)
        let carl = try await ServiceCaller(service, as: "carl@example.com")
        #expect(try await carl.send("PATCH", sent, #"{"data":{}}"#).refusal == missing)
    }
}
