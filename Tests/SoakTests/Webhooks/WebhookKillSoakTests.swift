import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ProcessTestSupport
import SelfieNotifications
import ServerProcesses
import ServiceTestSupport
import Testing
import Webhooks

@Suite("Processes that are killed while a receiver fails half of the time", .serialized, .timeLimit(.minutes(20)))
struct WebhookKillSoakTests {
    private static let killCount = 100
    private static let recordsPerKill = 3

    @Test("Each event arrives, with one id and one body, and each try is verified")
    func kills() async throws {
        try await WebhookReceiver.with { receiver in
            let settings = ["WEBHOOK_NETWORKS": "127.0.0.0/8", "RATE_LIMITS": "off"]
            try await ServedSelfie.runSeveral(settings: settings) { start, postgres in
                try await Self.run(start, receiver, postgres)
            }
        }
    }

    private static func run(
        _ start: () async throws -> ServedSelfie,
        _ receiver: WebhookReceiver,
        _ postgres: PostgresClient
    ) async throws {
        // The second takes over what the first has claimed.
        let other = try await start()
        defer { other.process.signal(SIGTERM) }
        try await other.service.apply(
            #"{"collections": {"notes": {"access": "private", "fields": {"text": {"type": "string"}}}}}"#
        )
        let ada = try await other.service.addMember("ada")
        let secret = TestService.settings(databaseURL: "", objects: other.service.objects)["SECRET_KEY_BASE"] ?? ""
        let store = WebhookStore(postgres: postgres, secret: secret)
        let url = try #require(WebhookURL(receiver.url))
        let (id, shown) = try #require(try await store.add(url, events: ["notes"], isFull: false))
        try receiver.reply(.init(secret: shown.text, fails: 1))
        var expected: Set<String> = []
        for kill in 0..<killCount {
            let killed = try await start()
            for number in 0..<recordsPerKill {
                let path = "/api/records/notes/n\(kill)-\(number)"
                let answer = try await killed.service.call("PUT", path, as: ada, #"{"data":{"text":"a"}}"#)
                #expect(answer.status == 200)
                expected.insert("n\(kill)-\(number)")
            }
            // At once after a commit, or while it sends.
            if kill % 2 == 1 { try await Task.sleep(for: .milliseconds(.random(in: 0...30))) }
            killed.process.signal(SIGKILL)
            _ = try await killed.process.waitForExit()
        }
        // Nobody waits for half an hour here.
        try await poll("all events", within: .seconds(300)) {
            try await postgres.write(
                """
                UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC'
                WHERE claimed_until IS NULL AND due_at > now() AT TIME ZONE 'UTC' + interval '6 seconds'
                """
            )
            try await Task.sleep(for: .milliseconds(500))
            return try await other.service.count("SELECT count(*) FROM deliveries") == 0
        }
        let requests = try receiver.requests()
        #expect(requests.allSatisfy { $0.isVerified })
        var records: [String: Set<String>] = [:]
        for request in requests where request.status == 200 {
            let record = String(try #require(request.body.firstMatch(of: /"id":"([^"]+)"/)?.1))
            records[record, default: []].insert("\(request.id) \(request.body)")
        }
        print("\(requests.count) requests about \(records.count) records, of \(expected.count)")
        #expect(Set(records.keys) == expected)
        #expect(records.values.allSatisfy { $0.count == 1 })
        // Each has one id in all tries, the failed ones included.
        #expect(Set(requests.map(\.id)).count == expected.count)
        #expect(try await store.find(id)?.disabledAt == nil)
    }
}
