import ConnectionTestSupport
import Foundation
import Glibc
import Postgres
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Renderers that are killed at random for a minute", .serialized, .timeLimit(.minutes(5)))
struct RendererKillSoakTests {
    private static let photoCount = 100
    private static let clientCount = 8
    private static let duration: Duration = .seconds(60)

    private final class Counts: Sendable {
        private let state = Mutex((pictures: 0, photos: 0, kills: 0))

        var pictures: Int { state.withLock(\.pictures) }
        var photos: Int { state.withLock(\.photos) }
        var kills: Int { state.withLock(\.kills) }

        func note(isPicture: Bool) {
            state.withLock { isPicture ? ($0.pictures += 1) : ($0.photos += 1) }
        }
        func noteKill() { state.withLock { $0.kills += 1 } }
    }

    @Test("No request fails, and no descriptor and no process is left", arguments: TestStore.allCases)
    func kills(store: TestStore) async throws {
        let settings = ["RENDITIONS_AT_ONCE": "2", "PHOTO_DELIVERY": "proxy"]
        try await ServedSelfie.run(store: store, settings: settings) { served in
            let (service, processID) = (served.service, served.process.processID)
            let targets = try await Self.upload(service)
            try await poll("all are made", within: .seconds(180)) {
                try await Self.readyCount(service) == Self.photoCount
            }
            let descriptors = try Self.descriptorCount(of: processID)
            let counts = Counts()
            let end = ContinuousClock.now + Self.duration
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<Self.clientCount {
                    tasks.addTask { try await Self.read(targets, service, until: end, counts) }
                }
                tasks.addTask {
                    while ContinuousClock.now < end {
                        // Each is made again, whatever came of the last attempt.
                        try await service.postgres.write(
                            "UPDATE renditions SET state = 'failed', due_at = now() AT TIME ZONE 'UTC' WHERE state <> 'pending'"
                        )
                        try await Task.sleep(for: .seconds(1))
                    }
                }
                tasks.addTask { try await Self.kill(childrenOf: processID, until: end, counts) }
                try await tasks.waitForAll()
            }
            #expect(
                counts.pictures > 100 && counts.photos > 10 && counts.kills > 50,
                "\(counts.pictures) pictures, \(counts.photos) photos, \(counts.kills) kills"
            )
            try await poll("no renderer is left") { try ProcessTable.children(of: processID).isEmpty }
            // Connections to the bucket and the database come and go.
            try await poll("as many descriptors as before") {
                try Self.descriptorCount(of: processID) <= descriptors + 4
            }
            try await service.postgres.write(
                "UPDATE renditions SET due_at = now() AT TIME ZONE 'UTC' WHERE state <> 'ready'"
            )
            for target in targets { #expect(try await service.send("GET", target).status == 200) }
            try await poll("all are made again", within: .seconds(180)) {
                try await Self.readyCount(service) == Self.photoCount
            }
        }
    }

    private static func upload(_ service: TestService) async throws -> [String] {
        let token = try await service.makeToken()
        var targets: [String] = []
        for _ in 0..<photoCount {
            let answer = try await service.upload(TestImage.jpeg, token: token)
            let url = try #require(answer.json["image_url"] as? String)
            targets.append(String(url.dropFirst(service.origin.count)) + "&size=small")
        }
        return targets
    }

    private static func readyCount(_ service: TestService) async throws -> Int {
        try await service.count("SELECT count(*) FROM renditions WHERE state = 'ready'")
    }

    private static func read(
        _ targets: [String],
        _ service: TestService,
        until end: ContinuousClock.Instant,
        _ counts: Counts
    ) async throws {
        while ContinuousClock.now < end {
            let answer = try await service.send("GET", try #require(targets.randomElement()))
            let isPhoto = answer.body == TestImage.jpeg
            #expect(answer.status == 200 && (isPhoto || answer.body.starts(with: [0xFF, 0xD8, 0xFF])))
            counts.note(isPicture: !isPhoto)
        }
    }

    private static func kill(
        childrenOf processID: pid_t,
        until end: ContinuousClock.Instant,
        _ counts: Counts
    ) async throws {
        while ContinuousClock.now < end {
            if let renderer = try ProcessTable.children(of: processID).randomElement(),
                Glibc.kill(renderer, SIGKILL) == 0
            {
                counts.noteKill()
            }
            try await Task.sleep(for: .milliseconds(.random(in: 20...300)))
        }
    }

    private static func descriptorCount(of processID: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count
    }
}
