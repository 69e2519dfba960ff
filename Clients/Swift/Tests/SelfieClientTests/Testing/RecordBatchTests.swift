import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("Calls with many records in memory")
struct RecordBatchTests {
    private static let path = "records/houses"

    private func house(_ id: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","data":{"address":"\#(id)"}\#(more)}"#
    }

    @Test("Many records are changed, or none")
    func patchMany() async throws {
        let ada = try await ServiceCaller(TestSchema.service(), as: "ada@example.com")
        _ = try await ada.send("POST", Self.path, "[\(house("a")),\(house("b")),\(house("c"))]")
        let changes = #"[{"id":"c","data":{"points":3}},{"id":"a","data":{"points":1},"expires_at":null},{"id":"b"}]"#
        let answer = try await ada.send("PATCH", Self.path, changes)
        guard case .array(let records) = answer.json else {
            Issue.record("\(answer.refusal)")
            return
        }
        #expect(records.map { $0["id"] } == ["c", "a", "b"])
        #expect(
            records.map { $0["data"] } == [
                ["address": "c", "points": 3], ["address": "a", "points": 1], ["address": "b"],
            ]
        )
        #expect(records.allSatisfy { $0["version"] == 2 })
        let refusals = [
            #"[{"id":"a","data":{"points":9}},{"id":"b","data":{"address":null}}]"#:
                "400 record_invalid: record 1: address - is missing,",
            #"[{"id":"a","data":{"points":9}},{"id":"x","data":{}}]"#:
                "404 record_not_found: record 1: There is no such record",
            #"[{"id":"a","data":{"points":9}},{"data":{}}]"#: "400 record_malformed: record 1: id - is missing,",
            #"[{"id":"a"},{"id":"b"},{"id":"a"}]"#:
                """
            400 record_id_invalid: record 2: An id has 1 to 255 of A-Z a-z 0-9 . _ : ~ @ - and may appear once in a call
            """,
            #"{"id":"a"}"#: "400 record_malformed: the body - must be an array,",
            "[\((0...100).map { #"{"id":"\#($0)"}"# }.joined(separator: ","))]":
                "400 too_many_records: A call takes at most 100 records",
        ]
        for (body, refusal) in refusals {
            #expect(try await ada.send("PATCH", Self.path, body).refusal == refusal, "\(body.prefix(80))")
        }
        #expect(try await ada.send("GET", "records/houses/a").json["version"] == 2)
        #expect(try await ada.send("PATCH", "records/nothing", "[]").refusal.hasPrefix("404 collection_not_found"))
        #expect(try await ada.send("PATCH", Self.path, "[]").json == [])
    }

    @Test("Many records are deleted, or none")
    func deleteMany() async throws {
        let service = try TestSchema.service()
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        let bob = try await ServiceCaller(service, as: "bob@example.com")
        _ = try await ada.send("POST", Self.path, "[\(house("a")),\(house("b")),\(house("c"))]")
        let missing = "404 record_not_found: record 1: There is no such record"
        #expect(try await ada.send("DELETE", "\(Self.path)?ids=a,x").refusal == missing)
        #expect(
            try await bob.send("DELETE", "\(Self.path)?ids=a").refusal
                == "404 record_not_found: record 0: There is no such record"
        )
        #expect(
            try await ada.send("DELETE", Self.path).refusal == "400 parameters_missing: required parameters are missing"
        )
        let invalid = "400 ids_invalid: ids - is invalid (1 to 100 comma-separated ids),"
        #expect(try await ada.send("DELETE", "\(Self.path)?ids=a,,b").refusal == invalid)
        let tooMany = (0...100).map { "\($0)" }.joined(separator: ",")
        #expect(try await ada.send("DELETE", "\(Self.path)?ids=\(tooMany)").refusal == invalid)
        #expect(try await ada.send("GET", Self.path).json["records"] != [])
        #expect(try await ada.send("DELETE", "\(Self.path)?ids=a,b,a").json == ["deleted": 2])
        let left = try await ada.send("DELETE", "\(Self.path)?ids=c")
        #expect(left.json == ["deleted": 1])
        #expect(try await ada.send("GET", Self.path).json["records"] == [])
    }

    @Test("A call may delete a record together with what refers to it, and not without")
    func references() async throws {
        let service = InMemoryService(
            schema: RecordSchema(collections: [
                "nodes": .init(access: .acl, fields: ["next": .init(.reference, to: "nodes")])
            ])
        )
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        let bob = try await ServiceCaller(service, as: "bob@example.com")
        let readers = #""readers":["\#(bob.memberID)"]"#
        // Records of one call may refer to each other.
        let nodes = #"[{"id":"1","data":{"next":"2"},\#(readers)},{"id":"2","data":{},\#(readers)}]"#
        #expect(try await ada.send("POST", "records/nodes", nodes).status == 200)
        let taken = "409 record_referred_to: Another record refers to the record"
        #expect(try await ada.send("DELETE", "records/nodes/2").refusal == taken)
        #expect(
            try await ada.send("PATCH", "records/nodes/2", #"{"expires_at":"2999-01-01T00:00:00Z"}"#).refusal == taken
        )
        #expect(try await ada.send("DELETE", "records/nodes?ids=2,1").json == ["deleted": 2])
        // A reader can't hold a record.
        _ = try await ada.send("PUT", "records/nodes/3", #"{"data":{},\#(readers)}"#)
        #expect(try await bob.send("PUT", "records/nodes/4", #"{"data":{"next":"3"}}"#).status == 200)
        #expect(try await ada.send("DELETE", "records/nodes/3").json == ["deleted": 1])
        #expect(
            try await bob.send("PUT", "records/nodes/5", #"{"data":{"next":"3"}}"#).refusal
                == "400 record_invalid: next - does not exist, or you may not use it,"
        )
        #expect(try await bob.send("PATCH", "records/nodes/4", #"{"data":{}}"#).json["data"] == ["next": "3"])
    }

    @Test("Messages of one call give their thread one version, and the last of them")
    func parents() async throws {
        let ada = try await ServiceCaller(TestSchema.service(), as: "ada@example.com")
        _ = try await ada.send("PUT", "records/threads/t", #"{"data":{"name":"T","lastMessage":"x"}}"#)
        #expect(try await ada.send("GET", "records/threads/t").json["data"] == ["name": "T"])
        let messages = ["1", "2", "3"].map { #"{"id":"\#($0)","data":{"threadId":"t"}}"# }.joined(separator: ",")
        #expect(try await ada.send("POST", "records/messages", "[\(messages)]").status == 200)
        let thread = try await ada.send("GET", "records/threads/t").json
        #expect(thread["data"] == ["name": "T", "lastMessage": "3"] && thread["version"] == 2)
        let patch = #"{"data":{"name":null,"lastMessage":"1"}}"#
        #expect(try await ada.send("PATCH", "records/threads/t", patch).json["data"] == ["lastMessage": "3"])
        #expect(try await ada.send("DELETE", "records/messages?ids=1,3").json == ["deleted": 2])
        let after = try await ada.send("GET", "records/threads/t").json
        #expect(after["data"] == ["lastMessage": .null] && after["version"] == 4)
    }

    @Test("Writers are readers, and stay readers")
    func sharing() async throws {
        let service = try TestSchema.service()
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        let bob = try await ServiceCaller(service, as: "bob@example.com")
        let member = JSONValue.string(bob.memberID)
        let shared = try await ada.send("PUT", "records/threads/t", #"{"data":{},"writers":["\#(bob.memberID)"]}"#)
        #expect(shared.json["readers"] == [member] && shared.json["writers"] == [member])
        let both = try await ada.send("PATCH", "records/threads/t", #"{"readers":[]}"#)
        #expect(both.json["readers"] == [member] && both.json["writers"] == [member])
        let reader = try await ada.send("PATCH", "records/threads/t", #"{"writers":[]}"#)
        #expect(reader.json["readers"] == [member] && reader.json["writers"] == [])
    }

    @Test("A sender's calls with many messages tell nothing of the recipient")
    func inbox() async throws {
        let service = try TestSchema.service()
        let ada = try await ServiceCaller(service, as: "ada@example.com")
        let bob = try await ServiceCaller(service, as: "bob@example.com")
        let inbox = "members/\(bob.memberID)/records/inbox"
        let messages = #"[{"id":"1","data":{"text":"1"}},{"id":"2","data":{"text":"2"}}]"#
        #expect(try await ada.send("POST", inbox, messages).status == 200)
        #expect(
            try await ada.send("POST", inbox, messages).refusal
                == "409 record_id_taken: record 0: There is a record with this id"
        )
        #expect(try await bob.send("DELETE", "records/inbox/1").json == ["deleted": 1])
        #expect(try await ada.send("DELETE", "\(inbox)?ids=1,2").json == ["deleted": 2])
        #expect(try await bob.send("GET", "records/inbox").json["records"] == [])
        #expect(try await ada.send("GET", inbox).refusal == "404 member_not_found: There is no such member")
        #expect(
            try await ada.send("GET", "\(inbox)/1").refusal
                == "403 record_forbidden: You may not do this with the record"
        )
    }

    @Test("Records are asked for by their ids, and one with those that it refers to")
    func reading() async throws {
        let ada = try await ServiceCaller(TestSchema.service(), as: "ada@example.com")
        _ = try await ada.send("POST", Self.path, "[\(house("a")),\(house("b")),\(house("c"))]")
        guard case .array(let found)? = try await ada.send("GET", "\(Self.path)?ids=c,x,a").json["records"] else {
            Issue.record("There is no list.")
            return
        }
        #expect(found.map { $0["id"] } == ["a", "c"])
        let both = "\(Self.path)?ids=a&where=%7B%22address%22:%22a%22%7D"
        #expect(
            try await ada.send("GET", both).refusal == "400 ids_invalid: ids - is invalid (not together with where),"
        )
        #expect(
            try await ada.send("GET", "\(Self.path)?limit=201").refusal
                == "400 limit_invalid: limit - is invalid (a whole number from 1 to 200),"
        )
        let first = try await ada.send("GET", "\(Self.path)/a")
        let again = try await ada.send("GET", "\(Self.path)/a", headers: ["If-None-Match": "\"1\""])
        #expect(first.status == 200 && again.status == 304 && again.response.body.isEmpty)
        _ = try await ada.send("PUT", "records/threads/t", #"{"data":{"name":"T"}}"#)
        _ = try await ada.send("PUT", "records/messages/m", #"{"data":{"threadId":"t"}}"#)
        let message = try await ada.send("GET", "records/messages/m?include=threadId").json
        guard case .array(let included)? = message["included"] else {
            Issue.record("Nothing is included.")
            return
        }
        #expect(message["id"] == "m" && included.map { $0["id"] } == ["t"])
        #expect(
            try await ada.send("GET", "records/messages/m?include=text").refusal
                == "400 include_no_reference: include - text is not a reference field"
        )
    }
}
