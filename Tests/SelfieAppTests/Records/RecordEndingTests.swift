import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Expiry of records, and ids that are used again", .timeLimit(.minutes(3)))
struct RecordEndingTests {
    @Test("A member who may not delete a record can't set its expiry, and may send it as it was read")
    func writer() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/records/threads/t1"
            _ = try await service.call("PUT", path, as: ada, #"{"data":{},"writers":["\#(bob.id)"]}"#)
            for method in ["PUT", "PATCH"] {
                let body = #"{"data":{},"expires_at":"2100-01-01T00:00:00Z"}"#
                let refused = try await service.call(method, path, as: bob, body)
                #expect(refused.status == 403 && refused.code == "record_forbidden", "\(refused.text)")
            }
            #expect(try await service.call("PUT", path, as: bob, #"{"data":{},"expires_at":null}"#).status == 200)
            let end = #"{"data":{},"expires_at":"2100-01-01T00:00:00.000Z"}"#
            #expect(try await service.call("PATCH", path, as: ada, end).status == 200)
            #expect(try await service.call("PUT", path, as: bob, end).status == 200)
            let endless = try await service.call("PUT", path, as: bob, #"{"data":{},"expires_at":null}"#)
            #expect(endless.status == 403)
            let seen = try await service.call("GET", path, as: ada)
            #expect(seen.json["expires_at"] as? String == "2100-01-01T00:00:00.000Z")
        }
    }

    @Test("A record that is referred to gets no end, as it can't be deleted")
    func referredTo() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let path = "/api/records/priorities/high"
            _ = try await service.call("PUT", path, as: ada, #"{"data":{"name":"high"}}"#)
            let bug = #"{"data":{"title":"x","priority":"high"}}"#
            #expect(try await service.call("PUT", "/api/records/bugs/b1", as: ada, bug).status == 200)
            let end = #"{"data":{"name":"high"},"expires_at":"2100-01-01T00:00:00Z"}"#
            for method in ["PUT", "PATCH"] {
                let refused = try await service.call(method, path, as: ada, end)
                #expect(refused.status == 409 && refused.code == "record_referred_to", "\(refused.text)")
            }
            #expect(try await service.call("DELETE", "/api/records/bugs/b1", as: ada).status == 200)
            #expect(try await service.call("PATCH", path, as: ada, end).status == 200)
        }
    }

    @Test("An expired record refers to nothing, even before it is deleted")
    func endedReference() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            for (path, body) in [
                ("priorities/p", #"{"data":{"name":"p"}}"#), ("bugs/b", #"{"data":{"title":"b","priority":"p"}}"#),
            ] {
                #expect(try await service.call("PUT", "/api/records/\(path)", as: ada, body).status == 200)
            }
            #expect(try await service.call("DELETE", "/api/records/priorities/p", as: ada).status == 409)
            try await service.postgres.write("UPDATE records SET expires_at = now() - interval '1 hour' WHERE id = 'b'")
            #expect(try await service.call("DELETE", "/api/records/priorities/p", as: ada).status == 200)
            try await service.expectSoundStreams()
        }
    }

    @Test("An id that is used again continues its versions, so that an old entity tag does not match")
    func versions() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let path = "/api/records/houses/h1"
            let data = #"{"data":{"address":"1 Rose St"}}"#
            for expected in [1, 3, 5] {
                let made = try await service.call("PUT", path, as: ada, data)
                #expect(made.json["version"] as? Int == expected && made.headers["etag"] == "\"\(expected)\"")
                let seen = try await service.call("GET", path, as: ada)
                #expect(seen.json["version"] as? Int == expected)
                #expect(try await service.call("DELETE", path, as: ada).status == 200)
            }
            let other = try await service.call("PUT", "/api/records/houses/h2", as: ada, data)
            #expect(other.json["version"] as? Int == 1)
        }
    }

    @Test("A condition on a record that is not there, and on one of somebody else's, are answered alike")
    func condition() async throws {
        try await TestService.runWithSchema { service in
            let (ada, eve) = (try await service.addMember("ada"), try await service.addMember("eve"))
            let data = #"{"data":{"address":"1 Rose St"}}"#
            _ = try await service.call("PUT", "/api/records/houses/h1", as: ada, data)
            var refusals: Set<String> = []
            for id in ["h1", "h2"] {
                let refused = try await service.send(
                    "PUT",
                    "/api/records/houses/\(id)",
                    headers: [
                        ("Authorization", "Bearer \(eve.token)"), ("Content-Type", "application/json"),
                        ("If-Match", "\"1\""),
                    ],
                    body: Data(data.utf8)
                )
                #expect(refused.status == 404)
                refusals.insert(refused.text)
            }
            #expect(refusals.count == 1)
        }
    }

    @Test("A repeated message may have its members in another order, and its numbers in another form")
    func equivalent() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/members/\(bob.id)/records/inbox/m1"
            let first = #"{"data":{"a":1,"b":{"c":[10.50,true],"d":null}}}"#
            #expect(try await service.call("PUT", path, as: ada, first).status == 200)
            let again = #"{"data":{"b":{"d":null,"c":[1.05e1,true]},"a":1.0}}"#
            #expect(try await service.call("PUT", path, as: ada, again).json["version"] as? Int == 1)
            for other in [#"{"a":1,"b":{"c":[true,10.5],"d":null}}"#, #"{"a":1,"b":{"c":[10.5,true]}}"#, #"{"a":1}"#] {
                #expect(try await service.call("PUT", path, as: ada, #"{"data":\#(other)}"#).status == 409)
            }
        }
    }

    @Test("A sender takes a message back from an account that was disabled, and sends no other")
    func disabled() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/members/\(bob.id)/records/inbox/m"
            #expect(try await service.call("PUT", path + "1", as: ada, #"{"data":{}}"#).status == 200)
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(bob.userID)")
            #expect(try await service.call("PUT", path + "2", as: ada, #"{"data":{}}"#).code == "member_not_found")
            #expect(try await service.call("DELETE", path + "1", as: ada).status == 200)
            #expect(try await service.count("SELECT count(*) FROM records WHERE deleted_at IS NULL") == 0)
        }
    }
}
