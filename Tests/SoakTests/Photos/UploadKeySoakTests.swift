import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Uploads with keys that are cut off at random places", .serialized, .timeLimit(.minutes(10)))
struct UploadKeySoakTests {
    private static let uploadCount = 1_000
    private static let clientCount = 24
    private static let killCount = 12

    /// Two processes, of which one is sometimes dead, and the ports where they listen.
    private final class Servers: Sendable {
        private let ports = Mutex<[Int]>([])
        private let cuts = Mutex(0)

        var port: Int? { ports.withLock { $0.randomElement() } }
        /// How many requests a client gave up.
        var cutCount: Int { cuts.withLock { $0 } }

        func add(_ port: Int) { ports.withLock { $0.append(port) } }
        func remove(_ port: Int) { ports.withLock { $0.removeAll { $0 == port } } }
        func noteCut() { cuts.withLock { $0 += 1 } }
    }

    @Test("Each is tried again with its key until it is answered: exactly 1,000 photos", arguments: TestStore.allCases)
    func cutOff(store: TestStore) async throws {
        try await TestCluster.withDatabase { url in
            try await ServedSelfie.withObjects(store) { objects in
                try await TestCluster.withClient(url) { postgres in
                    try await objects.makeBucket()
                    let settings = ["UPLOADS_AT_ONCE_PER_USER_MAX": "50"]
                    let start = { @Sendable in
                        try await ServedSelfie.start(
                            databaseURL: url,
                            objects: objects,
                            settings: settings,
                            postgres: postgres
                        )
                    }
                    try await Self.run(start, objects)
                }
            }
        }
    }

    private static func run(_ start: @escaping @Sendable () async throws -> ServedSelfie, _ objects: TestObjects)
        async throws
    {
        let servers = Servers()
        var processes = [try await start(), try await start()]
        let token = try await processes[0].service.makeToken()
        for process in processes { servers.add(process.service.port) }
        let ids = try await withThrowingTaskGroup(of: [Int: String].self) { clients in
            for client in 0..<clientCount {
                clients.addTask {
                    var ids: [Int: String] = [:]
                    for number in stride(from: client, to: uploadCount, by: clientCount) {
                        ids[number] = try await upload(number, token: token, servers)
                    }
                    return ids
                }
            }
            for kill in 0..<killCount {
                try await Task.sleep(for: .milliseconds(.random(in: 300...2_000)))
                let killed = processes.remove(at: kill % 2)
                servers.remove(killed.service.port)
                killed.process.signal(SIGKILL)
                _ = try await killed.process.waitForExit()
                processes.insert(try await start(), at: kill % 2)
                servers.add(processes[kill % 2].service.port)
            }
            return try await clients.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
        #expect(ids.count == uploadCount && Set(ids.values).count == uploadCount)
        #expect(servers.cutCount > uploadCount / 2)
        let service = processes[0].service
        let listed = try #require(try await service.list(token: token).jsonArray)
        #expect(listed.count == uploadCount)
        #expect(Set(listed.compactMap { $0["random_id"] as? String }) == Set(ids.values))
        for photo in listed {
            let number = ids.first { $0.value == photo["random_id"] as? String }?.key
            #expect(photo["title"] as? String == number.map { "Photo \($0)" })
        }
        // In real time: what a killed process left is given up after 40 s, and a sweep comes every 5 s.
        try await poll("objects and rows match", within: .seconds(90)) {
            try await service.count("SELECT count(*) FROM photos") == uploadCount && objects.keys().count == uploadCount
        }
    }

    /// Sends the same upload again and again, and gives most attempts up at a random place.
    private static func upload(_ number: Int, token: String, _ servers: Servers) async throws -> String {
        let image = TestImage.png(bytes: 2_000 + number * 10, seed: UInt8(truncatingIfNeeded: number))
        let body = TestMultipart.body(image: image, title: "Photo \(number)")
        var attempt = 0
        while true {
            attempt += 1
            #expect(attempt < 1_000, "upload \(number) is never answered")
            guard let port = servers.port else {
                try await Task.sleep(for: .milliseconds(50))
                continue
            }
            // The first attempts are cut off, while they are sent or before their answer is read.
            let isCut = attempt == 1 || (attempt < 5 && Bool.random())
            let answer = try? await RawConnection.open(port: port) { connection -> HTTPAnswer? in
                let sent = isCut && Bool.random() ? body.prefix(.random(in: 0...body.count)) : body
                try await connection.sendUploadHead(
                    token: token,
                    "Content-Length: \(body.count)",
                    "Idempotency-Key: upload-\(number)",
                    body: sent
                )
                if isCut {
                    try await Task.sleep(for: .milliseconds(.random(in: 0...30)))
                    servers.noteCut()
                    return nil
                }
                return try await connection.readResponse()
            }
            guard let answer = answer ?? nil else { continue }
            switch answer.status {
            case 200: return try #require(answer.json["random_id"] as? String)
            case 409, 429, 503: try await Task.sleep(for: .milliseconds(200))
            default: Issue.record("upload \(number): \(answer.status) \(answer.text)")
            }
        }
    }
}
