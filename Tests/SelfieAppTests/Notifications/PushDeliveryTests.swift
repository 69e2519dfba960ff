import ConnectionTestSupport
import Curl
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import SelfieApp
import SelfieNotifications
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Pushes to Apple and Google", .timeLimit(.minutes(3)))
struct PushDeliveryTests {
    /// Runs a body with a service that sends to a peer.
    private static func run(
        settings: [String: String] = [:],
        _ body: @escaping @Sendable (TestService, PushPeer) async throws -> Void
    ) async throws {
        try await PushPeer.with { peer in
            let own = try await peer.settings().merging(["RATE_LIMITS": "off"]) { $1 }.merging(settings) { $1 }
            let path = peer.authorityPath
            try await TestService.runWithSchema(
                settings: own,
                sendsMails: false,
                adjust: { $0.pushConnections.trust = .file(path: path) }
            ) { service in
                service.secrets.note([PushPeer.apnsKey])
                try await body(service, peer)
            }
        }
    }

    /// Makes a member of the role for each number, who has a device and wants to hear of new bugs.
    private static func addReaders(
        _ numbers: some Sequence<Int>,
        _ service: TestService,
        platform: String = "apns"
    ) async throws {
        for number in numbers {
            let member = try await service.addMember("reader\(number)", role: "team")
            let body = #"{"platform":"\#(platform)"}"#
            let answer = try await service.call(
                "PUT",
                "/api/devices/\(TestService.deviceToken(number))",
                as: member,
                body
            )
            #expect(answer.status == 200, "\(answer.text)")
            let rule = #"{"collection":"bugs","on":["created"],"alert":"A bug","badge":true,"collapse":"bugs"}"#
            try await service.subscribe("bugs", as: member, rule)
        }
    }

    private static func write(_ id: String, _ service: TestService, as member: TestMember) async throws {
        let answer = try await service.call(
            "PUT",
            "/api/records/bugs/\(id)",
            as: member,
            #"{"data":{"title":"s3cret"}}"#
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// The numbers of the devices that are registered.
    private static func registered(_ service: TestService) async throws -> Set<Int> {
        Set(
            try await service.postgres.read("SELECT token FROM devices").map {
                Int(try $0.decode("token", as: String.self), radix: 16) ?? -1
            }
        )
    }

    /// How often each device's pushes were accepted, by the numbers of devices.
    private static func accepted(_ peer: PushPeer) throws -> [Int: Int] {
        try peer.requests().reduce(into: [:]) { counts, request in
            guard request.status == 200, request.path != "/token" else { return }
            let token =
                request.path.contains("/3/device/")
                ? String(request.path.split(separator: "/").last ?? "")
                : String(request.body.firstMatch(of: /"token":"([0-9a-f]+)"/)?.1 ?? "")
            counts[Int(token, radix: 16) ?? -1, default: 0] += 1
        }
    }

    @Test("Apple: each push that should arrive does, once; only devices that are gone are removed")
    func apple() async throws {
        try await Self.run { service, peer in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.addReaders(1...10, service)
            let (old, new) = (
                Int(Date().timeIntervalSince1970 - 3_600) * 1_000, Int(Date().timeIntervalSince1970 + 60) * 1_000
            )
            let bad = #"{"status": 400, "reason": "BadDeviceToken"}"#
            func device(_ number: Int, _ answers: String...) -> String {
                "\"\(TestService.deviceToken(number))\": [\(answers.joined(separator: ", "))]"
            }
            let ok = #"{"status": 200}"#
            try peer.follow(
                """
                {"devices": {\([
                    device(2, bad), device(3, bad),
                    device(4, #"{"status": 400, "reason": "DeviceTokenNotForTopic"}"#),
                    device(5, #"{"status": 410, "reason": "Unregistered", "timestamp": \#(old)}"#, ok),
                    device(6, #"{"status": 410, "reason": "Unregistered", "timestamp": \#(new)}"#),
                    device(7, #"{"status": 429}"#, #"{"status": 500}"#, #"{"status": 503, "reason": "Shutdown"}"#, ok),
                    device(8, #"{"status": 429, "reason": "TooManyRequests"}"#, ok),
                    device(9, "\"silence\"", ok),
                    device(10, #"{"status": 403, "reason": "ExpiredProviderToken"}"#, ok),
                ].joined(separator: ", "))},
                "sandbox": {\([device(3, #"{"status": 400, "reason": "BadDeviceToken", "n": 2}"#)].joined())}}
                """
            )
            try await Self.write("b", service, as: ada)
            let arriving: Set = [1, 2, 5, 7, 8, 9, 10]
            try await poll("all pushes", within: .seconds(60)) { try Self.accepted(peer).keys.count == arriving.count }
            #expect(try Self.accepted(peer) == Dictionary(uniqueKeysWithValues: arriving.map { ($0, 1) }))
            try await poll("nothing waits") {
                try await service.count("SELECT count(*) FROM deliveries WHERE failed_at IS NULL") == 0
            }
            #expect(try await Self.registered(service) == arriving)
            let environments = try await service.postgres.read(
                "SELECT token FROM devices WHERE environment = 'sandbox'"
            )
            #expect(try environments.map { try $0.decode("token", as: String.self) } == [TestService.deviceToken(2)])
            // The id is that of all tries, and the contents are those of the subscription.
            let requests = try peer.requests()
            let tries = requests.filter { $0.path.hasSuffix(TestService.deviceToken(7)) }
            #expect(tries.count >= 4 && Set(tries.map { $0.headers["apns-id"] }).count == 1)
            #expect(Set(tries.map(\.body)).count == 1, "the badge counts once")
            let expected =
                #"{"aps":{"alert":"A bug","badge":1},"selfie":{"collection":"bugs","id":"b","type":"created","subscription":"bugs"}}"#
            #expect(tries.first?.body == expected && tries.first?.headers["apns-collapse-id"] == "bugs")
            #expect(requests.allSatisfy { !$0.body.contains("s3cret") })
            #expect(Set(requests.compactMap { $0.headers["authorization"] }).count <= 2)
            let token = try #require(requests.first?.headers["authorization"]?.split(separator: " ").last)
            service.secrets.note([String(token)])
            let sealed = try await service.postgres.read("SELECT token FROM provider_tokens")
            #expect(try sealed.count == 1 && !sealed[0].decode("token", as: String.self).contains(token))
            let dump = try await DatabaseDump.lines(url: service.databaseURL).joined(separator: "\n")
            #expect(dump.contains("provider_tokens") && !dump.contains(token) && !dump.contains("MIGHAgEAMBMG"))
            // What was found out is used the next time.
            try await Self.write("c", service, as: ada)
            try await poll("the second push") { try Self.accepted(peer)[2] == 2 }
            let later = try peer.requests().filter { $0.path.hasSuffix(TestService.deviceToken(2)) }
            #expect(later.map { $0.path.hasPrefix("/sandbox") } == [false, true, true])
        }
    }

    @Test("Connections that get a GOAWAY, or die, cost no push and no device", arguments: ["goaway", "dies"])
    func connections(end: String) async throws {
        try await Self.run { service, peer in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.addReaders(1...20, service)
            try peer.follow(#"{"\#(end)": 6}"#)
            for id in ["b", "c", "d"] {
                try await Self.write(id, service, as: ada)
                try await poll("all are sent", within: .seconds(60)) {
                    try await service.count("SELECT count(*) FROM deliveries WHERE failed_at IS NULL") == 0
                }
            }
            // A request whose answer was lost comes twice.
            let received = try peer.requests().filter { $0.status == 200 }
            #expect(
                Set(received.map(\.path)).count == 20 && Set(received.compactMap { $0.headers["apns-id"] }).count == 60
            )
            #expect(Set(received.map(\.connection)).count > 3)
            #expect(try await Self.registered(service).count == 20)
        }
    }

    @Test("Google: each push that should arrive does, once; only devices that are gone are removed")
    func google() async throws {
        try await Self.run { service, peer in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.addReaders(1...6, service, platform: "fcm")
            func device(_ number: Int, _ answers: String...) -> String {
                "\"\(TestService.deviceToken(number))\": [\(answers.joined(separator: ", "))]"
            }
            func error(_ status: Int, _ code: String, field: String? = nil) -> String {
                let violations = field.map { #", {"fieldViolations": [{"field": "\#($0)"}]}"# } ?? ""
                return
                    #"{"status": \#(status), "error": {"status": "X", "details": [{"errorCode": "\#(code)"}\#(violations)]}}"#
            }
            let ok = #"{"status": 200}"#
            try peer.follow(
                """
                {"devices": {\([
                    device(2, error(404, "UNREGISTERED")), device(3, error(400, "INVALID_ARGUMENT", field: "message.token")),
                    device(4, error(400, "INVALID_ARGUMENT", field: "message.data")),
                    device(5, error(503, "UNAVAILABLE"), error(429, "QUOTA_EXCEEDED"), ok),
                    device(6, error(401, "UNAUTHENTICATED"), ok),
                ].joined(separator: ", "))}}
                """
            )
            try await Self.write("b", service, as: ada)
            try await poll("all pushes", within: .seconds(60)) { try Self.accepted(peer) == [1: 1, 5: 1, 6: 1] }
            try await poll("nothing waits") {
                try await service.count("SELECT count(*) FROM deliveries WHERE failed_at IS NULL") == 0
            }
            #expect(try await Self.registered(service) == [1, 4, 5, 6])
            // Parallel pushes have waited for one access token.
            #expect(try peer.requests().count { $0.path == "/token" } <= 2)
            let push = try #require(try peer.requests().first { $0.path.hasSuffix(":send") && $0.status == 200 })
            #expect(push.body.contains(#""notification":{"body":"A bug"}"#) && !push.body.contains("s3cret"))
            #expect(
                push.body.contains(#""data":{"collection":"bugs","id":"b","type":"created","subscription":"bugs"}"#)
            )
        }
    }

    @Test("What Apple has taken is not sent again when the database fails to note the right environment")
    func unnoted() async throws {
        try await Self.run { service, peer in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.addReaders(1...1, service)
            try peer.follow(
                #"{"devices": {"\#(TestService.deviceToken(1))": [{"status": 400, "reason": "BadDeviceToken"}]}}"#
            )
            // A change of the environment fails.
            try await service.postgres.write("ALTER TABLE devices ADD CHECK (environment = 'production')")
            try await Self.write("b", service, as: ada)
            try await poll("it is sent") { try Self.accepted(peer) == [1: 1] }
            try await poll("nothing waits") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
            #expect(try Self.accepted(peer) == [1: 1])
        }
    }

    @Test("Whoever loses the right while Apple takes nothing hears nothing; the others do once it is back")
    func lostMeanwhile() async throws {
        try await Self.run { service, peer in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.addReaders(1...3, service)
            try peer.follow(#"{"all": [{"status": 503}]}"#)
            try await Self.write("b", service, as: ada)
            try await poll("each was tried") {
                try await service.count(
                    "SELECT count(*) FROM deliveries WHERE channel = 'apns' AND awaited_server = 'production'"
                ) == 3
            }
            try await service.postgres.write(
                "DELETE FROM role_members USING users WHERE users.id = user_id AND email = 'reader2@example.com'"
            )
            // As after some hours of an outage.
            try await service.postgres.write(
                "UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC' + interval '2 hours'"
            )
            try peer.follow("{}")
            try await poll("nothing waits", within: .seconds(60)) {
                try await service.count("SELECT count(*) FROM deliveries") == 0
            }
            #expect(try Self.accepted(peer) == [1: 1, 3: 1])
        }
    }
}
