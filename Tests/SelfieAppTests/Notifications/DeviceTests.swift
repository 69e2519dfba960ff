import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import SelfieNotifications
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Devices", .timeLimit(.minutes(2)))
struct DeviceTests {
    private static func devices(_ service: TestService, _ member: TestMember) async throws -> [[String: Any]] {
        let answer = try await service.call("GET", "/api/devices", as: member)
        #expect(answer.status == 200)
        return try #require(answer.json["devices"] as? [[String: Any]])
    }

    @Test("A device is registered, changed, listed and removed; Apple's token in any case")
    func registered() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let token = String(repeating: "aB", count: 32)
            let body = #"{"platform":"apns","environment":"sandbox","topic":"com.example.app","badge":3}"#
            let answer = try await service.call("PUT", "/api/devices/\(token)", as: ada, body)
            #expect(answer.status == 200 && answer.json["device"] as? String == token.lowercased())
            #expect(answer.json["environment"] as? String == "sandbox" && answer.json["badge"] as? Int == 3)
            #expect(answer.json["topic"] as? String == "com.example.app" && answer.json["current"] as? Bool == true)
            // What is not sent takes its default again, but the badge stays.
            let again = try await service.call(
                "PUT",
                "/api/devices/\(token.lowercased())",
                as: ada,
                #"{"platform":"apns","topic":null}"#
            )
            #expect(again.json["environment"] as? String == "production" && again.json["badge"] as? Int == 3)
            let other = try await service.call("PUT", "/api/devices/ab:C_d-9", as: ada, #"{"platform":"fcm"}"#)
            #expect(other.status == 200 && other.json["device"] as? String == "ab:C_d-9")
            #expect(try await Self.devices(service, ada).map { $0["platform"] as? String } == ["apns", "fcm"])
            let bob = try await service.addMember("bob")
            let foreign = try await service.call("DELETE", "/api/devices/\(token)", as: bob)
            #expect(foreign.status == 404 && foreign.json["code"] as? String == "device_not_found")
            #expect(try await service.call("DELETE", "/api/devices/\(token)", as: ada).status == 200)
            #expect(try await Self.devices(service, ada).count == 1)
            #expect(!service.log.text.contains(token.lowercased()))
        }
    }

    @Test(
        "What a device can't have is refused field by field",
        arguments: [
            ("5e5e", #"{"platform":"apns"}"#, ["device_token_invalid"]),
            (String(repeating: "xy", count: 32), #"{"platform":"apns"}"#, ["device_token_invalid"]),
            (String(repeating: "5", count: 65), #"{"platform":"apns"}"#, ["device_token_invalid"]),
            ("a%20b", #"{"platform":"fcm"}"#, ["device_token_invalid"]),
            (String(repeating: "a", count: 513), #"{"platform":"fcm"}"#, ["device_token_invalid"]),
            ("abc", "{}", ["platform - can't be blank"]),
            ("abc", #"{"platform":"web"}"#, ["platform - is invalid"]),
            (
                "abc", #"{"platform":"fcm","environment":"test","topic":"a b","badge":10000,"x":1}"#,
                ["environment - is invalid", "topic - is invalid", "badge - is invalid", "x - is not known"]
            ),
            ("abc", #"{"platform":"fcm","badge":-1}"#, ["badge_invalid"]),
            ("abc", #"{"platform":"fcm","topic":"a\r\nb"}"#, ["topic_invalid"]),
            ("abc", "[]", ["json_not_an_object"]),
        ]
    )
    func refused(token: String, body: String, parts: [String]) async throws {
        try await Self.shared { service, ada in
            let answer = try await service.call("PUT", "/api/devices/\(token)", as: ada, body)
            #expect(answer.status == 400)
            for part in parts { #expect(answer.text.contains(part), "\(answer.text)") }
        }
    }

    /// One service for all refusals.
    private static func shared(_ body: @escaping @Sendable (TestService, TestMember) async throws -> Void) async throws
    {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await body(service, ada)
            #expect(try await service.count("SELECT count(*) FROM devices") == 0)
        }
    }

    @Test("It belongs to whoever registered it last, and ends with that session")
    func ends() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let body = #"{"platform":"apns","badge":7}"#
            let token = TestService.deviceToken(1)
            _ = try await service.call("PUT", "/api/devices/\(token)", as: ada, body)
            let taken = try await service.call("PUT", "/api/devices/\(token)", as: bob, #"{"platform":"apns"}"#)
            #expect(taken.status == 200 && taken.json["badge"] as? Int == 0)
            #expect(try await Self.devices(service, ada).isEmpty)
            let row = try await service.postgres.read("SELECT session_id FROM devices")
            try await service.postgres.write(
                "UPDATE sessions SET expires_at = now() - interval '1 day' WHERE id = \(try row[0].decode("session_id", as: Int.self))"
            )
            let store = DeviceStore(postgres: service.postgres)
            #expect(try await store.list(ofUser: bob.userID).isEmpty)
            try await service.postgres.write("DELETE FROM sessions WHERE user_id = \(bob.userID)")
            #expect(try await service.count("SELECT count(*) FROM devices") == 0)
        }
    }

    @Test("A user has 20 devices, also when all are registered at once")
    func limit() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        let token = TestService.deviceToken(number)
                        return try await service.call("PUT", "/api/devices/\(token)", as: ada, #"{"platform":"apns"}"#)
                            .status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 20 && statuses.count { $0 == 403 } == 4)
            // One that is there can be registered again, and another user may take it over.
            let token = try #require(try await Self.devices(service, ada).first?["device"] as? String)
            let again = try await service.call("PUT", "/api/devices/\(token)", as: ada, #"{"platform":"apns"}"#)
            #expect(again.status == 200)
        }
    }

    @Test("Without a way to send pushes and mails there are no such calls")
    func closed() async throws {
        try await TestService.runWithSchema(sendsMails: false) { service in
            let ada = try await service.addMember("ada")
            for path in ["devices", "subscriptions"] {
                let answer = try await service.call("GET", "/api/\(path)", as: ada)
                #expect(answer.status == 404 && answer.json["code"] as? String == "endpoint_not_found")
            }
        }
    }
}
