import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import SelfieClient
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// Live queries whose connections are cut and whose app, service and database are ended again and again, beside writers.
package struct ReplicaStorm: Sendable {
    /// How often connections are cut, in all rounds.
    let cuts: Int
    let rounds: Int

    private static let writerCount = 8
    private static let readerCount = 3

    package init(cuts: Int, rounds: Int) { (self.cuts, self.rounds) = (cuts, rounds) }

    /// Runs the rounds, and expects after each that every result is what SQL says.
    package func run() async throws {
        try await OwnCluster.use { cluster in
            try await ServedSelfie.withObjects(.disk) { objects in
                try await TestCluster.withClient(cluster.url) { postgres in
                    func start() async throws -> ServedSelfie {
                        try await ServedSelfie.start(
                            databaseURL: cluster.url,
                            objects: objects,
                            settings: ["RATE_LIMITS": "off"],
                            postgres: postgres
                        )
                    }
                    let first = try await start()
                    let servers = Mutex([first])
                    try await first.service.apply(try TestService.exampleSchema)
                    var writers: [TestMember] = []
                    for number in 0..<Self.writerCount {
                        writers.append(try await first.service.addMember("w\(number)", role: "team"))
                    }
                    try await TemporaryFolder.with { folder in
                        var readers: [ReplicaReader] = []
                        for number in 0..<Self.readerCount {
                            let member = try await first.service.addMember("r\(number)", role: "team")
                            let relay = try await ConnectionRelay.start(target: first.service.port)
                            let home = folder.appending(path: "r\(number)")
                            readers.append(
                                ReplicaReader(service: first.service, member: member, relay: relay, folder: home)
                            )
                        }
                        let all = readers
                        for round in 0..<rounds {
                            let service = try #require(servers.withLock { $0.last }).service
                            try await write(service, writers, all) {
                                try await disturb(all, service)
                            }
                            switch round % 4 {
                            case 1:
                                // Another process; the database stays.
                                let old = servers.withLock { $0.removeLast() }
                                old.process.signal(SIGKILL)
                                _ = try await old.process.waitForExit()
                                let next = try await start()
                                servers.withLock { $0.append(next) }
                                for reader in all { reader.relay.pass(to: next.service.port) }
                            case 2:
                                try await restore(cluster, folder.appending(path: "copy"), service, writers)
                            default: break
                            }
                            for reader in all { try await reader.expectWhatSQLSays(postgres, readers: round) }
                        }
                        for reader in all { try await reader.end() }
                    }
                }
            }
        }
    }

    /// Writes for as long as the body runs.
    private func write(
        _ service: TestService,
        _ writers: [TestMember],
        _ readers: [ReplicaReader],
        _ body: @Sendable () async throws -> Void
    ) async throws {
        let end = End()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (number, writer) in writers.enumerated() {
                tasks.addTask {
                    var step = 0
                    while !end.isOver {
                        step += 1
                        await Self.write(service, writer, readers.map(\.member.id), number, step)
                    }
                }
            }
            do {
                // Also when it fails: writers that go on would keep the group from ending.
                defer { end.come() }
                try await body()
            }
            try await tasks.waitForAll()
        }
    }

    private final class End: Sendable {
        private let value = Atomic(false)

        var isOver: Bool { value.load(ordering: .relaxed) }

        func come() { value.store(true, ordering: .relaxed) }
    }

    private static func write(
        _ service: TestService,
        _ writer: TestMember,
        _ readers: [String],
        _ number: Int,
        _ step: Int
    )
        async
    {
        let id = "b\(Int.random(in: 0..<40))"
        let (method, path, body): (String, String, String?) =
            switch Int.random(in: 0..<8) {
            case 0: ("DELETE", "bugs/\(id)", nil)
            case 1:
                (
                    "PUT", "threads/\(writer.name)-\(id)",
                    #"{"data":{},"readers":[\#(readers.filter { _ in Bool.random() }.map { "\"\($0)\"" }.joined(separator: ","))]}"#
                )
            case 2: ("DELETE", "threads/\(writer.name)-\(id)", nil)
            default: ("PUT", "bugs/\(id)", #"{"data":{"title":"\#(step)","points":\#(Int.random(in: 0..<20))}}"#)
            }
        _ = try? await service.call(method, "/api/records/\(path)", as: writer, body)
    }

    /// Cuts connections, restarts apps and takes roles, for one round.
    private func disturb(_ readers: [ReplicaReader], _ service: TestService) async throws {
        for _ in 0..<cuts / rounds {
            let reader = readers[Int.random(in: 0..<readers.count)]
            switch Int.random(in: 0..<12) {
            case 0: try await reader.restart()
            case 1: try await reader.changeRole()
            case 2:
                reader.relay.turnOff()
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...100)))
                reader.relay.turnOn()
            default: break
            }
            reader.relay.cut()
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...60)))
        }
    }

    /// Puts the database back to what it was a moment ago, and writes something else.
    private func restore(_ cluster: OwnCluster, _ copy: URL, _ service: TestService, _ writers: [TestMember])
        async throws
    {
        try await cluster.killHard()
        try? FileManager.default.removeItem(at: copy)
        try await cluster.backUp(to: copy)
        try await cluster.start()
        for step in 0..<20 { try await put("lost\(step)", points: 0, service, writers[0]) }
        try await cluster.killHard()
        try await cluster.restore(from: copy)
        try await cluster.start()
        try await put("kept", points: 7, service, writers[1])
    }

    /// Writes a bug as soon as the service has found the database again.
    private func put(_ id: String, points: Int, _ service: TestService, _ writer: TestMember) async throws {
        try await poll("a write") {
            try await service.send(
                "PUT",
                "/api/records/bugs/\(id)",
                headers: [("Authorization", "Bearer \(writer.token)"), ("Content-Type", "application/json")],
                body: Data(#"{"data":{"title":"\#(id)","points":\#(points)}}"#.utf8)
            )
            .status == 200
        }
    }
}
