import ConnectionTestSupport
import Foundation
import Glibc
import Postgres
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("kill -9 again and again while stored photos are stripped", .serialized, .timeLimit(.minutes(10)))
struct StripKillSoakTests {
    private static let photoCount = 1_500
    private static let killCount = 20

    @Test("Every photo opens at every moment, none is lost, and none is left twice", arguments: TestStore.allCases)
    func kills(store: TestStore) async throws {
        let settings = ["PHOTO_METADATA": "keep", "PHOTO_DELIVERY": "proxy"]
        try await TestService.run(store: store, settings: settings) { service in
            let targets = try await Self.fill(service)
            let readers = Readers()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<3 {
                    tasks.addTask {
                        while !readers.areDone {
                            try await Self.open(try #require(targets.randomElement()), service)
                            readers.note()
                        }
                    }
                }
                try await Self.stripAndKill(service)
                readers.end()
                try await tasks.waitForAll()
            }
            #expect(readers.count > 1_000)
            #expect(try await service.count("SELECT count(*) FROM photos WHERE is_stripped") == Self.photoCount)
            try await service.postgres.write("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            let rows = try await service.postgres.read("SELECT object_key FROM photos")
            let keys = Set(try rows.map { try $0.decode("object_key", as: String.self) })
            #expect(keys.count == Self.photoCount)
            try await poll("each photo has one object", within: .seconds(60)) {
                Set(service.objects.keys()) == keys
            }
            for target in targets {
                let body = try await service.send("GET", target).body
                #expect(body.count > 1_000 && body.firstRange(of: Data(PlantedImage.marker.utf8)) == nil)
            }
        }
    }

    /// Readers that open one photo after another.
    private final class Readers: Sendable {
        private let state = Mutex((count: 0, areDone: false))

        var count: Int { state.withLock(\.count) }
        var areDone: Bool { state.withLock(\.areDone) }

        func note() { state.withLock { $0.count += 1 } }
        func end() { state.withLock { $0.areDone = true } }
    }

    /// Stores photos with metadata behind the service's back.
    private static func fill(_ service: TestService) async throws -> [String] {
        let token = try await service.addSession(name: "ada")
        let keys = (0..<photoCount).map { "photo-\($0)" }
        try await service.objects.makeBucket()
        try await service.objects.write(keys, PlantedImage.jpeg)
        try await service.postgres.write(
            """
            INSERT INTO photos (user_id, name, title, random_id, content_type, byte_count, state)
            SELECT users.id, 'photo', 'A title', key, 'image/jpeg', \(PlantedImage.jpeg.count), 'ready'
            FROM users, unnest(\(keys)) AS key
            """
        )
        let photos = try #require(try await service.list(token: token).jsonArray)
        #expect(photos.count == photoCount)
        return try photos.map { String(try #require($0["image_url"] as? String).dropFirst(service.origin.count)) }
    }

    private static func open(_ target: String, _ service: TestService) async throws {
        let answer = try await service.send("GET", target)
        let isOld = answer.body == PlantedImage.jpeg
        let isNew = answer.body.count > 1_000 && answer.body.firstRange(of: Data(PlantedImage.marker.utf8)) == nil
        #expect(answer.status == 200 && (isOld || isNew), "\(answer.status), \(answer.body.count) bytes")
    }

    /// Runs the command in two processes until all is done, and kills both after a random time.
    private static func stripAndKill(_ service: TestService) async throws {
        let environment = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
        func start() throws -> [SelfieProcess] {
            try (0..<2).map { _ in try SelfieProcess(["photos", "strip"], environment: environment) }
        }
        var killCount = 0
        while killCount < Self.killCount {
            let processes = try start()
            try await Task.sleep(for: .milliseconds(.random(in: 150...600)))
            for process in processes { process.signal(SIGKILL) }
            for process in processes where try await process.waitForExit() == 128 + SIGKILL { killCount += 1 }
            let left = try await service.count("SELECT count(*) FROM photos WHERE NOT is_stripped")
            #expect(left > 0, "All photos were stripped after \(killCount) kills.")
        }
        for process in try start() {
            let status = try await process.waitForExit()
            #expect(status == 0, "\(process.output)")
        }
    }
}
