import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import SelfieNotifications
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing
import Webhooks

@Suite("A receiver that works beside dead ones", .serialized, .timeLimit(.minutes(20)))
struct DeadReceiverSoakTests {
    private static let deviceCount = 5
    private static let measuredCount = 300
    /// The writes of an hour, one a second.
    private static let hourCount = 3_600

    @Test("Its delay stays below a second; an hour of a dead Apple leaves memory and database bounded, and says so")
    func dead() async throws {
        let silent = try SilentServer()
        try await PushPeer.with { peer in
            try peer.follow(#"{"all": ["silence"]}"#)
            try await WebhookReceiver.with { receiver in
                let settings = try await peer.settings().merging([
                    "RATE_LIMITS": "off", "SSL_CERT_FILE": peer.authorityPath, "WEBHOOK_NETWORKS": "127.0.0.0/8",
                ]) { $1 }
                try await ServedSelfie.run(settings: settings) { served in
                    try await Self.run(served, receiver, silent.port)
                }
            }
        }
    }

    private static func run(_ served: ServedSelfie, _ receiver: WebhookReceiver, _ silent: Int) async throws {
        let service = served.service
        try await service.apply(
            #"{"collections": {"notes": {"access": "private", "fields": {"text": {"type": "string"}}}}}"#
        )
        let ada = try await service.addMember("ada")
        for number in 0..<deviceCount {
            try await service.register(number, as: try await service.addSecondSession(of: ada))
        }
        try await service.subscribe("notes", as: ada, #"{"collection":"notes","on":["created"],"alert":"a"}"#)
        let key = TestService.settings(databaseURL: "", objects: service.objects)["SECRET_KEY_BASE"] ?? ""
        let store = WebhookStore(postgres: service.postgres, secret: key)
        let (living, dead) = (
            try #require(WebhookURL(receiver.url)), try #require(WebhookURL("http://127.0.0.1:\(silent)/"))
        )
        let (_, secret) = try #require(try await store.add(living, events: ["notes"], isFull: false))
        _ = try await store.add(dead, events: ["notes"], isFull: false)
        try receiver.reply(.init(secret: secret.text))

        var written: [String: Double] = [:]
        for number in 0..<measuredCount {
            let answer = try await service.call(
                "PUT",
                "/api/records/notes/n\(number)",
                as: ada,
                #"{"data":{"text":"a"}}"#
            )
            #expect(answer.status == 200)
            written["n\(number)"] = Date().timeIntervalSince1970
            try await Task.sleep(for: .milliseconds(100))
        }
        let requests = try await receiver.requests(count: measuredCount)
        let delays = try requests.map { request in
            let id = String(try #require(request.body.firstMatch(of: /"id":"([^"]+)"/)?.1))
            return request.time - (written[id] ?? 0)
        }.sorted()
        let last = delays[delays.count * 99 / 100]
        print("the living webhook waits \(delays[delays.count / 2]) s, and \(last) s at most (p99)")
        #expect(requests.count == measuredCount && last < 1)

        let before = try ProcessMemory(of: served.process.processID).resident
        for number in 0..<hourCount {
            let answer = try await service.call(
                "PUT",
                "/api/records/notes/h\(number)",
                as: ada,
                #"{"data":{"text":"a"}}"#
            )
            #expect(answer.status == 200)
        }
        try await poll("all are spread out", within: .seconds(120)) {
            try await service.count("SELECT count(*) FROM deliveries WHERE channel = 'subscriptions'") == 0
        }
        let growth = (try ProcessMemory(of: served.process.processID).resident - before) / 1_024
        let waiting = try await service.count(
            "SELECT count(*) FROM deliveries WHERE channel = 'apns' AND failed_at IS NULL"
        )
        let events = try await service.count(
            "SELECT count(*) FROM deliveries WHERE channel = 'webhook' AND failed_at IS NULL"
        )
        let bytes = try await service.count("SELECT pg_total_relation_size('deliveries') AS count")
        print(
            """
            after \(hourCount) writes, \(waiting) pushes to \(deviceCount) devices and \(events) events wait; deliveries take \
            \(bytes >> 20) MiB; memory grew by \(growth) MiB
            """
        )
        // Those under way can't be given up.
        #expect(waiting <= deviceCount * (20 + 4))
        #expect(bytes < 64 << 20 && growth < 64)
        #expect(served.process.output.contains("pushes were given up for newer ones"))
    }
}
