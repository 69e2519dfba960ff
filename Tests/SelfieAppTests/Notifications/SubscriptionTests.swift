import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import SelfieNotifications
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Subscriptions", .timeLimit(.minutes(2)))
struct SubscriptionTests {
    private static let message = #"{"collection":"houses","on":["created"],"alert":"A house"}"#

    @Test("A subscription is made, read, changed and ended; the same again changes nothing")
    func made() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let path = "/api/subscriptions/new.houses.json"
            let body = #"""
                {"collection":"houses","where":{"address":"Rue é"},"on":["deleted","created"],"once":true,"channel":"push",
                 "alert":"A house in {address}","sound":"default","badge":true,"silent":false,"collapse":"houses"}
                """#
            let first = try await service.call("PUT", path, as: ada, body)
            #expect(first.status == 200 && first.json["id"] as? String == "new.houses.json", "\(first.text)")
            #expect(first.json["on"] as? [String] == ["created", "deleted"])
            #expect((first.json["where"] as? [String: String]) == ["address": "Rue é"])
            try await service.postgres.write("UPDATE subscriptions SET fired_at = '2026-01-01'")
            let again = try await service.call("PUT", path, as: ada, body)
            #expect(again.json["created_at"] as? String == first.json["created_at"] as? String)
            #expect(again.json["fired_at"] as? String == "2026-01-01T00:00:00.000Z")
            // Another one begins anew.
            let other = try await service.call("PUT", path, as: ada, Self.message)
            #expect(other.json["fired_at"] is NSNull && (other.json["where"] as? [String: Any])?.isEmpty == true)
            let listed = try await service.call("GET", "/api/subscriptions", as: ada)
            #expect((listed.json["subscriptions"] as? [[String: Any]])?.count == 1)
            let bob = try await service.addMember("bob")
            for method in ["GET", "DELETE"] {
                let foreign = try await service.call(method, path, as: bob)
                #expect(foreign.status == 404 && foreign.json["code"] as? String == "subscription_not_found")
            }
            #expect(try await service.call("DELETE", path, as: ada).status == 200)
            #expect(try await service.call("GET", path, as: ada).status == 404)
        }
    }

    private static let refusals: [(body: String, part: String)] = [
        ("{}", "collection - can't be blank,on - can't be blank,alert - can't be blank"),
        (#"{"collection":"bugs","on":["created"],"alert":"a"}"#, "collection_invalid"),
        (#"{"collection":"none","on":["created"],"alert":"a"}"#, "collection_invalid"),
        (#"{"collection":"houses","on":[],"alert":"a"}"#, "on_invalid"),
        (#"{"collection":"houses","on":["made"],"alert":"a"}"#, "on_invalid"),
        (#"{"collection":"houses","on":["created","created"],"alert":"a"}"#, "on_invalid"),
        (#"{"collection":"houses","where":{"comment":"a"},"on":["created"],"alert":"a"}"#, "no index of comment"),
        (#"{"collection":"houses","where":{"address":5},"on":["created"],"alert":"a"}"#, "where_invalid"),
        (#"{"collection":"houses","where":{"address":[]},"on":["created"],"alert":"a"}"#, "where_invalid"),
        (#"{"collection":"photos","where":{"title":"a"},"on":["created"],"alert":"a"}"#, "no index of title"),
        (#"{"collection":"houses","on":["created"]}"#, "alert_blank"),
        (#"{"collection":"houses","on":["created"],"alert":"\u0007"}"#, "alert_invalid"),
        (
            #"{"collection":"houses","on":["created"],"alert":"\#(String(repeating: "é", count: 201))"}"#,
            "maximum is 200 characters"
        ),
        (#"{"collection":"houses","on":["created"],"silent":true,"badge":true}"#, "silent_invalid"),
        (#"{"collection":"houses","on":["created"],"alert":"a","collapse":"a b"}"#, "collapse_invalid"),
        (
            #"{"collection":"houses","on":["created"],"alert":"a","collapse":"\#(String(repeating: "a", count: 65))"}"#,
            "collapse_invalid"
        ),
        (
            #"{"collection":"houses","on":["created"],"channel":"mail","sound":"a","badge":true,"silent":true,"collapse":"a"}"#,
            "sound - is invalid (a file's name),badge - is invalid"
        ),
        (#"{"collection":"houses","on":["created"],"channel":"sms"}"#, "channel_invalid"),
        (#"{"collection":"houses","on":["created"],"alert":"a","once":1,"nickname":1}"#, "nickname - is not known"),
    ]

    @Test("What a subscription can't have is refused field by field")
    func refused() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for (body, part) in Self.refusals {
                let answer = try await service.call("PUT", "/api/subscriptions/a", as: ada, body)
                #expect(answer.status == 400 && answer.text.contains(part), "\(body): \(answer.text)")
            }
            let id = try await service.call("PUT", "/api/subscriptions/a%20b", as: ada, Self.message)
            #expect(id.status == 400 && id.json["code"] as? String == "subscription_id_invalid")
            #expect(try await service.count("SELECT count(*) FROM subscriptions") == 0)
        }
    }

    @Test("A user has 50 subscriptions, also when all are made at once; filters without one are removed")
    func limit() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            @Sendable func put(_ number: Int) async throws -> Int {
                let body = #"{"collection":"houses","where":{"address":"\#(number)"},"on":["created"],"alert":"a"}"#
                return try await service.call("PUT", "/api/subscriptions/s\(number)", as: ada, body).status
            }
            for number in 0..<45 { #expect(try await put(number) == 200) }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 45..<53 { group.addTask { try await put(number) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 5 && statuses.count { $0 == 403 } == 3)
            try await service.postgres.write(
                "DELETE FROM subscriptions WHERE id NOT IN (SELECT min(id) FROM subscriptions)"
            )
            // The service may be removing some at the same time. This call skips those.
            try await poll("one is left") {
                try await service.removeUnusedFilters()
                return try await service.count("SELECT count(*) FROM subscription_filters") == 1
            }
        }
    }

    @Test("A change of the rules keeps what can be looked for, and removes the rest")
    func rules() async throws {
        let schema = #"""
            {"collections": {"times": {"access": "private", "indexes": ["at", "name"],
                "fields": {"at": {"type": "timestamp"}, "name": {"type": "string"}}},
                "others": {"access": "private"}}}
            """#
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada")
            try await service.register(1, as: ada)
            let time = "2026-01-01T00:00:00Z"
            for (id, collection, condition) in [
                ("at", "times", #"{"at":"\#(time)"}"#), ("name", "times", #"{"name":"a"}"#), ("all", "others", "{}"),
            ] {
                let body = #"{"collection":"\#(collection)","where":\#(condition),"on":["created"],"alert":"a"}"#
                try await service.subscribe(id, as: ada, body)
            }
            try await service.apply(
                #"""
                {"collections": {"times": {"access": "private", "indexes": ["at"],
                    "fields": {"at": {"type": "string"}, "name": {"type": "string"}}}}}
                """#
            )
            let listed = try await service.call("GET", "/api/subscriptions", as: ada)
            #expect((listed.json["subscriptions"] as? [[String: Any]])?.map { $0["id"] as? String } == ["at"])
            // The index has other values for texts.
            let writer = try await service.addSecondSession(of: ada)
            _ = try await service.call("PUT", "/api/records/times/t", as: writer, #"{"data":{"at":"\#(time)"}}"#)
            #expect(try await service.pushes().map(\.id) == ["t"])
        }
    }
}
