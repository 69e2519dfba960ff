import ConnectionTestSupport
import Encodings
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Records that are refused", .timeLimit(.minutes(3)))
struct RecordRefusalTests {
    @Test("Bodies that records can't have are refused, each with its reason")
    func refusals() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let bodies: [(String, Int, String)] = [
                ("", 400, "json_malformed"), ("5", 400, "record_malformed"), ("{}", 400, "record_malformed"),
                (#"{"data":5}"#, 400, "record_malformed"), (#"{"data":{},"x":1}"#, 400, "record_malformed"),
                (#"{"data":{},"readers":5}"#, 400, "record_malformed"),
                (#"{"data":{},"readers":[5]}"#, 400, "record_malformed"),
                (#"{"data":{},"id":5}"#, 400, "record_malformed"), (#"{"data":{},"id":""}"#, 400, "record_id_invalid"),
                (#"{"data":{},"id":"a b"}"#, 400, "record_id_invalid"),
                (#"{"data":{},"id":"."}"#, 400, "record_id_invalid"),
                (#"{"data":{},"id":".."}"#, 400, "record_id_invalid"),
                (#"{"data":{"a":"\u0000"}}"#, 400, "record_invalid"),
                (#"{"data":{"a":"\ud800"}}"#, 400, "json_malformed"),
                (#"{"data":{"\u0000":1}}"#, 400, "record_invalid"), (#"{"data":{"a":1e400}}"#, 400, "record_invalid"),
                (#"[{"id":"a","data":{}},{"id":"a","data":{}}]"#, 400, "record_id_invalid"),
                (#"[{"data":{}},]"#, 400, "json_malformed"), (#"[{"data":{}}{"data":{}}]"#, 400, "json_malformed"),
            ]
            for (body, status, code) in bodies {
                let answer = try await service.call("POST", "/api/records/inbox", as: ada, body)
                #expect(answer.status == status && answer.code == code, "\(body) \(answer.text)")
            }
            let form = try await service.sendForm(
                "POST",
                "/api/records/inbox",
                authorization: "Bearer \(ada.token)",
                [("data", "{}")]
            )
            #expect(form.status == 415 && form.code == "json_required")
            let other = try await service.call("PUT", "/api/records/inbox/a", as: ada, #"{"id":"b","data":{}}"#)
            #expect(other.status == 400)
            #expect(try await service.ids("inbox", as: ada).isEmpty)
            #expect(try await service.call("GET", "/api/records/nothing", as: ada).code == "collection_not_found")
            #expect(try await service.send("GET", "/api/records/inbox").status == 401)
        }
    }

    @Test("A record of 64 KiB and 16 levels is stored, and one byte or level more is refused")
    func size() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let empty = #"{"a":""}"#.utf8.count
            for (bytes, status) in [(64 * 1024, 200), (64 * 1024 + 1, 413)] {
                let text = String(repeating: "x", count: bytes - empty)
                let answer = try await service.call(
                    "POST",
                    "/api/records/inbox",
                    as: ada,
                    #"{"data":{"a":"\#(text)"}}"#
                )
                #expect(answer.status == status, "\(bytes) \(answer.text.suffix(100))")
            }
            for (levels, status) in [(16, 200), (17, 400)] {
                let data =
                    String(repeating: #"{"a":"#, count: levels - 1) + "{}" + String(repeating: "}", count: levels - 1)
                let answer = try await service.call("POST", "/api/records/inbox", as: ada, #"{"data":\#(data)}"#)
                #expect(answer.status == status, "\(levels) \(answer.text)")
            }
            let id = String(repeating: "i", count: 255)
            #expect(try await service.call("PUT", "/api/records/inbox/\(id)", as: ada, #"{"data":{}}"#).status == 200)
            #expect(try await service.call("PUT", "/api/records/inbox/\(id)i", as: ada, #"{"data":{}}"#).status == 400)
            let odd = "a.json:~@-_Z"
            #expect(try await service.call("PUT", "/api/records/inbox/\(odd)", as: ada, #"{"data":{}}"#).status == 200)
            let encoded = odd.replacing(":", with: "%3A").replacing("@", with: "%40")
            #expect(
                try await service.call("GET", "/api/records/inbox/\(encoded)", as: ada).json["id"] as? String == odd
            )
        }
    }
}
