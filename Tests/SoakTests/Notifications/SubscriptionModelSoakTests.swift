import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Subscriptions against a model", .serialized, .timeLimit(.minutes(15)))
struct SubscriptionModelSoakTests {
    private static let schema = #"""
        {"roles": {"team": {}}, "collections": {
            "bugs": {"access": "shared", "role": "team", "indexes": ["state", "points", "open"],
                "fields": {"state": {"type": "string"}, "points": {"type": "integer"}, "open": {"type": "boolean"}}},
            "notes": {"access": "acl", "indexes": ["state"], "fields": {"state": {"type": "string"}}},
            "houses": {"access": "private", "indexes": ["state"], "fields": {"state": {"type": "string"}}}}}
        """#
    private static let memberCount = 50
    private static let subscriptionsPerMember = 10
    private static let writerCount = 8
    private static let time: Duration = .seconds(60)

    private struct Device: Encodable {
        let token: String
        let session: String
    }

    private struct WrittenSubscription: Encodable {
        let member: String
        let id: String
        let collection: String
        let `where`: [String: Value]
        let on: [String]
        let once: Bool
    }

    private struct Operation: Encodable {
        let collection: String
        let record: String
        let session: String
        let readers: [String]
        let data: [String: Value]?

        enum CodingKeys: CodingKey { case collection, record, session, readers, data }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(collection, forKey: .collection)
            try container.encode(record, forKey: .record)
            try container.encode(session, forKey: .session)
            try container.encode(readers, forKey: .readers)
            try container.encode(data, forKey: .data)
        }
    }

    /// What was done, in the order of each record.
    private final class Ledger: Sendable {
        let operations = Mutex<[Operation]>([])
    }

    private struct SentPush: Encodable {
        let device: String
        let subscription: String
        let collection: String
        let record: String
        let type: String
    }

    private struct Run: Encodable {
        let members: [String: [Device]]
        let subscriptions: [WrittenSubscription]
        let operations: [Operation]
        let pushes: [SentPush]
    }

    private enum Value: Encodable, Sendable {
        case text(String), number(Int), flag(Bool), null

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            case .null: try container.encodeNil()
            }
        }

        static func random(_ field: String) -> Value {
            switch field {
            case "state": [.text("new"), .text("done"), .null][.random(in: 0..<3)]
            case "points": .number(.random(in: 1...2))
            default: .flag(.random())
            }
        }
    }

    private static let fields = ["bugs": ["state", "points", "open"], "notes": ["state"], "houses": ["state"]]

    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    @Test("8 writers for a minute, 500 subscriptions, two processes: the pushes are those of the model")
    func model() async throws {
        try await PushPeer.with { peer in
            let settings = try await peer.settings().merging([
                "RATE_LIMITS": "off", "SSL_CERT_FILE": peer.authorityPath,
            ]) { $1 }
            try await ServedSelfie.runSeveral(settings: settings) { start, _ in
                let served = [try await start(), try await start()]
                defer { for one in served { one.process.signal(SIGTERM) } }
                try await Self.run(served.map(\.service), peer)
                #expect(served.allSatisfy { !$0.process.output.contains("pushes were given up") })
            }
        }
    }

    private static func run(_ services: [TestService], _ peer: PushPeer) async throws {
        let service = services[0]
        try await service.apply(schema)
        var sessions: [[TestMember]] = []
        var (devices, subscriptions): ([String: [Device]], [WrittenSubscription]) = ([:], [])
        for number in 0..<memberCount {
            let name = "m\(number)"
            let first = try await service.addMember(name, role: "team")
            let both = [first, try await service.addSecondSession(of: first)]
            sessions.append(both)
            devices[name] = []
            for (session, member) in both.enumerated() where session == 0 || number % 3 > 0 {
                let token = try await service.register(number * 2 + session, as: member)
                devices[name]?.append(Device(token: token, session: "\(name)-\(session)"))
            }
            for index in 0..<subscriptionsPerMember {
                let subscription = subscription(of: name, "s\(index)")
                subscriptions.append(subscription)
                let body = #"""
                    {"collection":"\#(subscription.collection)","where":\#(try json(subscription.where)),
                     "on":\#(try json(subscription.on)),"once":\#(subscription.once),"alert":"a"}
                    """#
                try await service.subscribe(subscription.id, as: first, body)
            }
        }
        let members = sessions
        let ledger = Ledger()
        let end = ContinuousClock.now + time
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writerCount {
                group.addTask {
                    try await write(by: writer, until: end, services[writer % services.count], members, ledger)
                }
            }
            try await group.waitForAll()
        }
        try await poll("nothing waits", within: .seconds(120)) {
            try await service.count("SELECT count(*) FROM deliveries") == 0
        }
        let pushes = try peer.requests().filter { $0.status == 200 }.map { request in
            let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any])
            let hint = try #require(body["selfie"] as? [String: String])
            return SentPush(
                device: String(request.path.split(separator: "/").last ?? ""),
                subscription: hint["subscription"] ?? "",
                collection: hint["collection"] ?? "",
                record: hint["id"] ?? "",
                type: hint["type"] ?? ""
            )
        }
        let run = Run(
            members: devices,
            subscriptions: subscriptions,
            operations: ledger.operations.withLock { $0 },
            pushes: pushes
        )
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "run.json")
            try JSONEncoder().encode(run).write(to: file)
            print(try await PythonScript.run("subscription_model.py", [file.path]))
        }
        #expect(run.operations.count > 200 && pushes.count > 1_000)
    }

    private static func subscription(of member: String, _ id: String) -> WrittenSubscription {
        let collection = fields.keys.randomElement() ?? ""
        let chosen = (fields[collection] ?? []).filter { _ in Int.random(in: 0..<3) > 0 }
        return WrittenSubscription(
            member: member,
            id: id,
            collection: collection,
            where: Dictionary(uniqueKeysWithValues: chosen.map { ($0, Value.random($0)) }),
            on: [["created"], ["updated"], ["deleted"], ["created", "deleted"], ["created", "updated", "deleted"]][
                .random(in: 0..<5)
            ],
            once: Int.random(in: 0..<5) == 0
        )
    }

    /// Changes the writer's own records, by any member, while others change theirs.
    private static func write(
        by writer: Int,
        until end: ContinuousClock.Instant,
        _ service: TestService,
        _ members: [[TestMember]],
        _ ledger: Ledger
    ) async throws {
        var (owners, existing): ([String: Int], Set<String>) = ([:], [])
        while ContinuousClock.now < end {
            // A device has 20 pushes waiting at most, and none is to be given up here.
            try await poll("room") {
                try await service.count(
                    """
                    SELECT coalesce(max(count), 0) AS count FROM (
                        SELECT count(*) FROM deliveries GROUP BY CASE WHEN channel = 'apns' THEN target ELSE channel END
                    ) AS waiting
                    """
                ) < 3
            }
            let collection = fields.keys.randomElement() ?? ""
            let id = "w\(writer)-\(Int.random(in: 0..<6))"
            let key = "\(collection)/\(id)"
            let owner = owners[key] ?? .random(in: 0..<members.count)
            owners[key] = owner
            let author = collection == "bugs" ? .random(in: 0..<members.count) : owner
            let session = Int.random(in: 0..<2)
            let deletes = existing.contains(key) && Int.random(in: 0..<5) == 0
            // Only the owner of a bug may delete it.
            let member = members[deletes ? owner : author][session]
            let others = (0..<members.count).filter { _ in Int.random(in: 0..<4) == 0 }
            let readers: Set<Int> =
                switch collection {
                case "bugs": Set(members.indices)
                case "notes": Set(others + [owner])
                default: [owner]
                }
            var data: [String: Value]?
            let path = "/api/records/\(collection)/\(id)"
            if deletes {
                let answer = try await service.call("DELETE", path, as: member)
                #expect(answer.status == 200, "\(answer.text)")
                existing.remove(key)
                owners[key] = nil
            } else {
                // Who creates a bug owns it.
                if !existing.contains(key) { owners[key] = collection == "bugs" ? author : owner }
                data = Dictionary(uniqueKeysWithValues: (fields[collection] ?? []).map { ($0, Value.random($0)) })
                let ids = readers.filter { $0 != owner }.map { "\"\(members[$0][0].id)\"" }.joined(separator: ",")
                let sharing = collection == "notes" ? #","readers":[\#(ids)]"# : ""
                let answer = try await service.call("PUT", path, as: member, #"{"data":\#(try json(data))\#(sharing)}"#)
                #expect(answer.status == 200, "\(answer.text)")
                existing.insert(key)
            }
            let operation = Operation(
                collection: collection,
                record: id,
                session: "\(member.name)-\(session)",
                readers: readers.map { members[$0][0].name },
                data: data
            )
            ledger.operations.withLock { $0.append(operation) }
        }
    }
}
