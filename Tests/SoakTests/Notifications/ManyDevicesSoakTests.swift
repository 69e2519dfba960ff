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

@testable import SelfieApp

@Suite("A role with 10,000 members who all get pushes", .serialized, .timeLimit(.minutes(15)))
struct ManyDevicesSoakTests {
    private static let memberCount = 10_000
    private static let schema = #"""
        {"roles": {"team": {}}, "collections": {
            "bugs": {"access": "shared", "role": "team", "indexes": ["state"], "fields": {"state": {"type": "string"}}}}}
        """#

    /// Has a member subscribe, and 10,000 others.
    private static func addSubscribers(_ service: TestService, like member: TestMember) async throws {
        try await service.subscribe("bugs", as: member, #"{"collection":"bugs","on":["created"],"alert":"A bug"}"#)
        try await service.addSubscribers(memberCount, like: member)
    }

    /// How long a write takes, in milliseconds.
    private static func writeTime(_ id: String, _ service: TestService, as member: TestMember) async throws -> Double {
        let start = ContinuousClock.now
        let answer = try await service.call("PUT", "/api/records/bugs/\(id)", as: member, #"{"data":{"state":"a"}}"#)
        #expect(answer.status == 200)
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    @Test("A write takes no longer")
    func writes() async throws {
        // Nothing is sent meanwhile, which would take the processor.
        try await TestService.runWithSchema(Self.schema, adjust: { $0.worksInBackground = false }) { service in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.addSubscribers(service, like: ada)
            var times: [Bool: [Double]] = [:]
            for number in 0..<600 {
                // In turn, so that both meet the same machine.
                let isTold = number % 2 == 0
                try await service.postgres.write(
                    "UPDATE subscription_filters SET collection_id = abs(collection_id) * \(isTold ? 1 : -1)"
                )
                let time = try await Self.writeTime("n\(number)", service, as: ada)
                if number >= 100 { times[isTold, default: []].append(time) }
            }
            #expect(try await service.count("SELECT count(*) FROM deliveries") == 300)
            let (with, without) = (times[true]?.median ?? 0, times[false]?.median ?? 0)
            print(
                "a write takes \(without) ms without and \(with) ms with \(Self.memberCount) subscriptions: \(with / without)"
            )
            #expect(with < without * 1.2)
        }
    }

    @Test("The pushes share a token and few connections, and others do not wait")
    func many() async throws {
        try await PushPeer.with { peer in
            try await WebhookReceiver.with { receiver in
                let settings = try await peer.settings().merging([
                    "RATE_LIMITS": "off", "SSL_CERT_FILE": peer.authorityPath, "WEBHOOK_NETWORKS": "127.0.0.0/8",
                ]) { $1 }
                try await ServedSelfie.runSeveral(settings: settings) { start, _ in
                    let first = try await start()
                    defer { first.process.signal(SIGTERM) }
                    try await Self.run(first.service, start, peer, receiver)
                }
            }
        }
    }

    /// Waits until nothing waits, without looking too often.
    private static func end(_ service: TestService) async throws {
        try await poll("nothing waits", within: .seconds(180)) {
            try await Task.sleep(for: .milliseconds(500))
            return try await service.count("SELECT count(*) FROM deliveries") == 0
        }
    }

    private static func run(
        _ service: TestService,
        _ start: () async throws -> ServedSelfie,
        _ peer: PushPeer,
        _ receiver: WebhookReceiver
    ) async throws {
        try await service.apply(schema)
        let ada = try await service.addMember("ada", role: "team")
        // It is told in both cases.
        let token = TestService.settings(databaseURL: "", objects: service.objects)["SECRET_KEY_BASE"] ?? ""
        let store = WebhookStore(postgres: service.postgres, secret: token)
        let url = try #require(WebhookURL(receiver.url))
        let (_, secret) = try #require(try await store.add(url, events: ["bugs"], isFull: false))
        try receiver.reply(.init(secret: secret.text))
        try await addSubscribers(service, like: ada)

        // One write, and its 10,000 pushes by one process.
        let begin = Date()
        let written = try await service.call("PUT", "/api/records/bugs/one", as: ada, #"{"data":{"state":"a"}}"#)
        #expect(written.status == 200)
        try await end(service)
        let pushes = try peer.requests()
        let took = (pushes.map(\.time).max() ?? 0) - begin.timeIntervalSince1970
        #expect(Set(pushes.map(\.path)).count == memberCount && pushes.count == memberCount)
        #expect(Set(pushes.map(\.connection)).count <= 2)
        let told = try await receiver.requests(count: 1).first { $0.body.contains(#""id":"one""#) }
        let delay = (told?.time ?? .infinity) - begin.timeIntervalSince1970

        // Another write, and its 10,000 pushes by four processes.
        let others = [try await start(), try await start(), try await start()]
        defer { for other in others { other.process.signal(SIGTERM) } }
        let second = try await service.call("PUT", "/api/records/bugs/two", as: ada, #"{"data":{"state":"a"}}"#)
        #expect(second.status == 200)
        try await end(service)
        let all = try peer.requests()
        #expect(all.count == 2 * memberCount)
        let connections = Set(all.map(\.connection)).count
        #expect(connections <= 8)
        #expect(Set(all.compactMap { $0.headers["authorization"] }).count == 1)

        print(
            """
            \(memberCount) pushes took \(took) s; the webhook waited \(delay) s; 20,000 pushes used \(connections) connections
            """
        )
        #expect(took < 20 * 2, "twice, on a busy machine")
        #expect(delay < 1)
    }
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}
