import ConnectionTestSupport
import Encodings
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Arrays of photos, references and members", .timeLimit(.minutes(3)))
struct ArrayFieldTests {
    private static let schema = #"""
        {"collections":{"tags":{"access":"private"},
        "messages":{"access":"acl","fields":{"text":{"type":"string"},"pictures":{"type":"photos"},
            "tags":{"type":"references","to":"tags"},"with":{"type":"members"},"cover":{"type":"photo"}}}}}
        """#

    private static func array(_ ids: [String]) -> String { #"["\#(ids.joined(separator: #"",""#))"]"# }

    private static func put(
        _ id: String,
        _ data: String,
        _ service: TestService,
        as member: TestMember,
        readers: [TestMember] = []
    ) async throws -> HTTPAnswer {
        let names = readers.isEmpty ? "" : ",\"readers\":\(array(readers.map(\.id)))"
        return try await service.call("PUT", "/api/records/messages/\(id)", as: member, "{\"data\":\(data)\(names)}")
    }

    private static func urls(_ answer: HTTPAnswer) -> [String: String] {
        (answer.json["photos"] as? [String: Any])?["pictures"] as? [String: String] ?? [:]
    }

    @Test("A message with several pictures: its readers open each, others none, and each goes with its last reference")
    func pictures() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            var photos: [String] = []
            for _ in 0..<3 { photos.append(try await service.uploadUnlisted(as: ada).id) }
            let made = try await Self.put(
                "m",
                #"{"pictures":\#(Self.array(photos)),"cover":"\#(photos[0])"}"#,
                service,
                as: ada,
                readers: [bob]
            )
            #expect(made.status == 200 && Set(Self.urls(made).keys) == Set(photos), "\(made.text)")
            let read = try await service.call("GET", "/api/records/messages/m", as: bob)
            #expect(Set(Self.urls(read).keys) == Set(photos) && Self.urls(read) != Self.urls(made))
            for (id, url) in Self.urls(read) {
                #expect(url.contains(id))
                #expect(try await service.send("GET", url).body == TestImage.jpeg)
            }
            let listed = try await service.call("GET", "/api/records/messages", as: bob).records.first
            #expect(((listed?["photos"] as? [String: Any])?["pictures"] as? [String: String])?.count == 3)
            let told = try await service.changes("", as: bob).changes.first?["record"] as? [String: Any]
            #expect(((told?["photos"] as? [String: Any])?["pictures"] as? [String: String])?.count == 3)
            // Another order and one picture less: the rest keeps its references.
            let fewer = #"{"data":{"pictures":\#(Self.array([photos[2], photos[0]]))}}"#
            let changed = try await service.call("PATCH", "/api/records/messages/m", as: ada, fewer)
            #expect(Set(Self.urls(changed).keys) == [photos[0], photos[2]], "\(changed.text)")
            try await poll("the second one is gone") { service.objects.keys().count == 2 }
            #expect(try await service.send("GET", try #require(Self.urls(read)[photos[1]])).status == 404)
            #expect(try await service.send("GET", try #require(Self.urls(read)[photos[2]])).status == 200)
            // The first one is in two fields.
            _ = try await service.call("PATCH", "/api/records/messages/m", as: ada, #"{"data":{"pictures":[]}}"#)
            try await poll("the third one is gone") { service.objects.keys() == [photos[0]] }
            #expect(try await service.call("DELETE", "/api/records/messages/m", as: ada).status == 200)
            try await poll("all are gone") { service.objects.keys().isEmpty }
            try await service.expectSoundStreams()
        }
    }

    @Test("A deleted photo leaves the others, and the record gets a new version")
    func lostPhoto() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            let photos = [
                try await service.uploadPhoto(token: ada.token), try await service.uploadPhoto(token: ada.token),
            ]
            _ = try await Self.put("m", #"{"pictures":\#(Self.array(photos))}"#, service, as: ada)
            #expect(try await service.delete(photos[0], token: ada.token).status == 200)
            try await poll("a new version") {
                try await service.call("GET", "/api/records/messages/m", as: ada).json["version"] as? Int == 2
            }
            let read = try await service.call("GET", "/api/records/messages/m", as: ada)
            #expect(Array(Self.urls(read).keys) == [photos[1]] && (read.data["pictures"] as? [String])?.count == 2)
        }
    }

    @Test("Each reference of an array protects its target, and all of them are included")
    func references() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            for id in ["a", "b", "c"] {
                #expect(
                    try await service.call("PUT", "/api/records/tags/\(id)", as: ada, #"{"data":{}}"#).status == 200
                )
            }
            #expect(try await Self.put("m", #"{"tags":["b","a"]}"#, service, as: ada).status == 200)
            for id in ["a", "b"] {
                let refused = try await service.call("DELETE", "/api/records/tags/\(id)", as: ada)
                #expect(refused.status == 409 && refused.code == "record_referred_to")
            }
            let read = try await service.call("GET", "/api/records/messages/m?include=tags", as: ada)
            let included = (read.json["included"] as? [[String: Any]])?.compactMap { $0["id"] as? String }
            #expect(included == ["a", "b"])
            let page = try await service.call("GET", "/api/records/messages?include=tags", as: ada)
            #expect((page.json["included"] as? [Any])?.count == 2)
            #expect(try await Self.put("m", #"{"tags":["c","b"]}"#, service, as: ada).status == 200)
            #expect(try await service.call("DELETE", "/api/records/tags/a", as: ada).status == 200)
            #expect(try await service.call("DELETE", "/api/records/tags/c", as: ada).status == 409)
        }
    }

    @Test("A new type of a field finds its references anew: one value, an array, one value again")
    func otherType() async throws {
        let single = Self.schema.replacing(#""references""#, with: #""reference""#)
        try await TestService.runWithSchema(single) { service in
            let ada = try await service.addMember("ada")
            _ = try await service.call("PUT", "/api/records/tags/a", as: ada, #"{"data":{}}"#)
            #expect(try await Self.put("m", #"{"tags":"a"}"#, service, as: ada).status == 200)
            try await service.apply(Self.schema)
            #expect(try await service.count("SELECT count(*) FROM record_references") == 0)
            #expect(try await Self.put("m", #"{"tags":["a"]}"#, service, as: ada).status == 200)
            #expect(try await service.count("SELECT count(*) FROM record_references WHERE element = 'a'") == 1)
            try await service.apply(single)
            #expect(try await service.count("SELECT count(*) FROM record_references") == 0)
            try await service.apply(Self.schema)
            #expect(try await service.count("SELECT count(*) FROM record_references WHERE element = 'a'") == 1)
        }
    }

    @Test("20 ids are taken, and 21, one twice, one of nothing and other values are refused by the field's name")
    func refused() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let tags = (0..<120).map { "t\($0)" }
            for batch in [tags.prefix(60), tags.suffix(60)] {
                let records = batch.map { #"{"id":"\#($0)","data":{}}"# }.joined(separator: ",")
                #expect(try await service.call("POST", "/api/records/tags", as: ada, "[\(records)]").status == 200)
            }
            let foreign = try await service.uploadUnlisted(as: bob)
            #expect(
                try await Self.put("m", #"{"tags":\#(Self.array(Array(tags.prefix(20))))}"#, service, as: ada).status
                    == 200
            )
            #expect(try await Self.put("n", #"{"with":["\#(ada.id)","\#(bob.id)"]}"#, service, as: ada).status == 200)
            #expect(try await Self.put("e", #"{"tags":[],"pictures":null}"#, service, as: ada).status == 200)
            for (data, message) in [
                (#"{"tags":\#(Self.array(Array(tags.prefix(21))))}"#, "tags - has too many ids (maximum is 20),"),
                (#"{"tags":["t1","t1"]}"#, "tags - has an id twice,"),
                (#"{"tags":"t1"}"#, "tags - must be an array of ids, for each a reference,"),
                (#"{"tags":[1]}"#, "tags - must be an array of ids, for each a reference,"),
                (#"{"tags":[["t1"]]}"#, "tags - must be an array of ids, for each a reference,"),
                (#"{"tags":["t1","nothing","neither"]}"#, "tags - does not exist, or you may not use it,"),
                (#"{"pictures":["\#(foreign.id)"]}"#, "pictures - does not exist, or you may not use it,"),
                (#"{"with":["\#(bob.id)","nobody"]}"#, "with - does not exist, or you may not use it,"),
            ] {
                let answer = try await Self.put("x", data, service, as: ada)
                #expect(
                    answer.status == 400 && answer.code == "record_invalid" && answer.message == message,
                    "\(answer.text)"
                )
            }
            #expect(try await service.call("GET", "/api/records/messages/x", as: ada).status == 404)
        }
    }

    @Test("A record names 100 others, and not 101")
    func allLinks() async throws {
        let fields = (0..<6).map { #""f\#($0)":{"type":"references","to":"tags"}"# }.joined(separator: ",")
        let schema =
            #"{"collections":{"tags":{"access":"private"},"lists":{"access":"private","fields":{\#(fields)}}}}"#
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada")
            let tags = (0..<20).map { "t\($0)" }
            let records = tags.map { #"{"id":"\#($0)","data":{}}"# }.joined(separator: ",")
            #expect(try await service.call("POST", "/api/records/tags", as: ada, "[\(records)]").status == 200)
            func data(_ count: Int) -> String {
                let members = (0..<6).map { number in
                    #""f\#(number)":\#(number * 20 >= count ? "[]" : Self.array(Array(tags.prefix(count - number * 20))))"#
                }
                return "{\(members.joined(separator: ","))}"
            }
            for (count, status) in [(100, 200), (101, 400)] {
                let path = "/api/records/lists/l\(count)"
                let answer = try await service.call("PUT", path, as: ada, "{\"data\":\(data(count))}")
                #expect(answer.status == status, "\(answer.text)")
            }
        }
    }

    @Test("Of what a record refers to, about a mebibyte is included")
    func manyIncluded() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            let text = String(repeating: "t", count: 60_000)
            for number in 0..<20 {
                let body = #"{"data":{"text":"\#(text)"}}"#
                #expect(try await service.call("PUT", "/api/records/tags/t\(number)", as: ada, body).status == 200)
            }
            let tags = Self.array((0..<20).map { "t\($0)" })
            #expect(try await Self.put("m", #"{"tags":\#(tags)}"#, service, as: ada).status == 200)
            for path in ["messages/m?include=tags", "messages?include=tags"] {
                let read = try await service.call("GET", "/api/records/\(path)", as: ada)
                #expect((read.json["included"] as? [Any])?.count == 17)
            }
        }
    }
}
