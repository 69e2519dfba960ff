import ConnectionTestSupport
import Curl
import Foundation
import LinuxFiles
import Logging
import Postgres
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfieConfiguration
@testable import SelfieOperations
@testable import SelfiePhotos

@Suite("Photos copied from one store to the other", .timeLimit(.minutes(3)))
struct CopyTests {
    /// A service on one store, and the other store beside it.
    private static func withBoth(
        serving store: TestStore,
        _ body: @Sendable @escaping (TestService, TestObjects, CopyDirection) async throws -> Void
    ) async throws {
        let direction: CopyDirection = store == .disk ? .s3 : .disk
        try await ServedSelfie.withObjects(store == .disk ? .s3 : .disk) { other in
            try await TestService.run(store: store) { service in
                try await body(service, other, direction)
            }
        }
    }

    private static func copy(
        _ service: TestService,
        to other: TestObjects,
        _ direction: CopyDirection,
        onOutcome: @escaping @Sendable (CopyOutcome, String) -> Void = { _, _ in }
    ) async throws -> OutcomeCounts<CopyOutcome> {
        let settings = service.objects.settings.merging(other.settings) { $1 }
            .merging(["DATABASE_URL": service.databaseURL]) { $1 }
        let result = try await Installation.copy(
            direction,
            configuration: try ConfigurationSource(values: settings).read { $0.copying() },
            logger: service.log.logger(level: .info),
            onOutcome: onOutcome
        )
        if let failure = result.failure { throw failure }
        return result.report
    }

    /// A copy that stops at one of its photos, and what came of each until then.
    private final class HeldCopy: Sendable {
        let gate: ThreadGate
        private let notes = Mutex<[(outcome: CopyOutcome, id: String)]>([])
        private let task = Mutex<Task<OutcomeCounts<CopyOutcome>, any Error>?>(nil)

        var outcomes: [(outcome: CopyOutcome, id: String)] { notes.withLock { $0 } }

        /// Begins one that stops once so many photos were dealt with.
        init(stoppingAt number: Int, _ service: TestService, to other: TestObjects, _ direction: CopyDirection) {
            gate = ThreadGate { count, _ in count == number }
            let task = Task(executorPreference: DedicatedThreads()) { [self] in
                try await CopyTests.copy(service, to: other, direction) { [self] outcome, id in
                    notes.withLock { $0.append((outcome, id)) }
                    gate.pass(0)
                }
            }
            self.task.withLock { $0 = task }
        }

        /// Waits until it has stopped.
        func waitUntilHeld() async throws {
            try await poll("the copy stops in the middle") { gate.heldCount == 1 }
        }

        /// Lets it continue, and waits until it is over.
        func goOn() async throws -> OutcomeCounts<CopyOutcome> {
            gate.open()
            guard let task = task.withLock(\.self) else { throw NotInTime(what: "the start") }
            return try await task.value
        }

        func cancel() { task.withLock { $0?.cancel() } }
    }

    @Test("All photos arrive as they are, of every size, and again nothing is copied", arguments: TestStore.allCases)
    func all(store: TestStore) async throws {
        try await Self.withBoth(serving: store) { service, other, direction in
            let token = try await service.makeToken()
            var photos: [String: Data] = [:]
            for bytes in [100, 5_000, 1 << 20, (2 << 20) + 1] {
                let photo = TestImage.png(bytes: bytes)
                let answer = try await service.upload(photo, token: token)
                photos[try #require(answer.json["random_id"] as? String)] = photo
            }
            let report = try await Self.copy(service, to: other, direction)
            #expect(report[.copied] == 4 && report.isComplete)
            #expect(other.keys() == photos.keys.sorted())
            for (key, photo) in photos {
                #expect(other.bytes(key: key) == photo)
                #expect(service.objects.bytes(key: key) == photo, "the source keeps them")
            }
            let again = try await Self.copy(service, to: other, direction)
            #expect(again[.alreadyThere] == 4 && again[.copied] == 0)
        }
    }

    @Test("An object with other bytes is copied again", arguments: TestStore.allCases)
    func otherBytes(store: TestStore) async throws {
        try await Self.withBoth(serving: store) { service, other, direction in
            let token = try await service.makeToken()
            let photo = TestImage.png(bytes: 3_000)
            let ids = try await Self.upload(photo, count: 2, to: service, token: token)
            // As long as the photo, as a put that was broken off on a lesser store, and shorter.
            try await other.write(Data(repeating: 0, count: photo.count), key: ids[0])
            try await other.write(photo.prefix(100), key: ids[1])
            let report = try await Self.copy(service, to: other, direction)
            #expect(report[.copied] == 2)
            for id in ids { #expect(other.bytes(key: id) == photo) }
        }
    }

    @Test("An interrupted run resumes where it was", arguments: TestStore.allCases)
    func resumed(store: TestStore) async throws {
        try await Self.withBoth(serving: store) { service, other, direction in
            let token = try await service.makeToken()
            let ids = try await Self.upload(TestImage.png(bytes: 500), count: 12, to: service, token: token)
            let first = HeldCopy(stoppingAt: 5, service, to: other, direction)
            defer { first.gate.open() }
            try await first.waitUntilHeld()
            let copied = first.outcomes.map(\.id)
            #expect(first.outcomes.map(\.outcome) == Array(repeating: .copied, count: 5))
            first.cancel()
            await #expect(throws: (any Error).self) { try await first.goOn() }
            #expect((5...11).contains(other.keys().count), "it was broken off in the middle")
            let outcomes = Mutex<[String: CopyOutcome]>([:])
            let report = try await Self.copy(service, to: other, direction) { outcome, id in
                outcomes.withLock { $0[id] = outcome }
            }
            #expect(other.keys() == ids.sorted())
            for id in ids { #expect(other.bytes(key: id) == TestImage.png(bytes: 500)) }
            #expect(report[.copied] > 0)
            #expect(report[.copied] + report[.alreadyThere] == 12)
            for id in copied { #expect(outcomes.withLock { $0[id] } == .alreadyThere, "\(id) was there") }
        }
    }

    @Test("Photos uploaded and deleted while it runs are in both stores, or in none", arguments: TestStore.allCases)
    func meanwhile(store: TestStore) async throws {
        try await Self.withBoth(serving: store) { service, other, direction in
            let token = try await service.makeToken()
            var ids = try await Self.upload(TestImage.jpeg, count: 8, to: service, token: token)
            let copy = HeldCopy(stoppingAt: 1, service, to: other, direction)
            defer { copy.gate.open() }
            try await copy.waitUntilHeld()
            for _ in 0..<6 {
                let new = try await Self.upload(TestImage.jpeg, count: 2, to: service, token: token)
                #expect(try await service.delete(new[0], token: token).status == 200)
                ids.append(new[1])
            }
            // At most four are on their way, so that the last of the first eight is only on the list.
            #expect(copy.outcomes.map(\.outcome) == [.copied])
            #expect(try await service.delete(ids.remove(at: 7), token: token).status == 200)
            let during = try await copy.goOn()
            #expect(during.isComplete)
            #expect(during[.copied] == 13 && during[.deleted] == 1)
            #expect(other.keys() == ids.sorted())
            // What is deleted after the copy's last look is left to a reconciliation, as decision 13 says.
            let late = ids.removeFirst()
            #expect(try await service.delete(late, token: token).status == 200)
            let after = try await Self.copy(service, to: other, direction)
            #expect(after[.alreadyThere] == 12 && after[.copied] == 0)
            #expect(other.keys() == (ids + [late]).sorted())
            let result = try await Installation.reconcile(
                ReconciliationOptions(repairs: true, minSeconds: 0, isForced: false),
                configuration: try ServiceConfiguration(
                    from: ConfigurationSource(
                        values: TestService.settings(databaseURL: service.databaseURL, objects: other)
                    )
                ),
                logger: service.log.logger(level: .info),
                now: { Date(timeIntervalSinceNow: 2) }
            )
            #expect(result.failure == nil && result.report.isClean)
            #expect(other.keys() == ids.sorted())
        }
    }

    @Test("A photo that is deleted once it was copied is taken away again", arguments: TestStore.allCases)
    func deletedAfterwards(store: TestStore) async throws {
        try await Self.withBoth(serving: store) { service, other, direction in
            let token = try await service.makeToken()
            let ids = try await Self.upload(TestImage.jpeg, count: 12, to: service, token: token)
            let copy = HeldCopy(stoppingAt: 1, service, to: other, direction)
            defer { copy.gate.open() }
            // The first that was copied is deleted while the others are still on their way.
            try await copy.waitUntilHeld()
            let first = try #require(copy.outcomes.first).id
            #expect(other.keys().contains(first))
            #expect(try await service.delete(first, token: token).status == 200)
            #expect(copy.outcomes.map(\.outcome) == [.copied])
            let report = try await copy.goOn()
            #expect(report[.copied] == 12)
            #expect(other.keys() == ids.filter { $0 != first }.sorted())
        }
    }

    @Test(
        "A photo that neither store has, and one that is damaged, are reported",
        arguments: TestStore.allCases
    )
    func broken(store: TestStore) async throws {
        try await Self.withBoth(serving: store) { service, other, direction in
            let token = try await service.makeToken()
            let ids = try await Self.upload(TestImage.png(bytes: 500), count: 3, to: service, token: token)
            try await service.objects.remove(key: ids[0])
            try await service.objects.write(Data("half".utf8), key: ids[1])
            let validationErrors = Mutex<[String]>([])
            let report = try await Self.copy(service, to: other, direction) { outcome, id in
                if outcome != .copied { validationErrors.withLock { $0.append("\(outcome) \(id)") } }
            }
            #expect(!report.isComplete)
            #expect(validationErrors.withLock { $0.sorted() } == ["damaged \(ids[1])", "missing \(ids[0])"])
            #expect(other.keys() == [ids[2]])
        }
    }

    @Test("A folder that does not return the written bytes is reported")
    func damagedOnTheWay() async throws {
        try await TemporaryFolder.with { folder in
            try await TestService.run(store: .s3) { service in
                let token = try await service.makeToken()
                _ = try await service.upload(TestImage.png(bytes: 500), token: token)
                var steps = FileSteps()
                steps.write = { file, bytes in
                    // As long, and one bit is another.
                    var damaged = Data(bytes)
                    damaged[100] ^= 1
                    try damaged.withUnsafeBytes { try file.write($0) }
                }
                let (disk, settings) = (
                    try DiskObjectStore(directory: folder.path, steps: steps), service.objects.settings
                )
                let values = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
                guard
                    case .s3(let bucket) = try ServiceConfiguration(from: ConfigurationSource(values: values))
                        .objectStorage
                else { throw NotInTime(what: "a bucket, with \(settings.keys)") }
                let copy = CopyPhotos(
                    photos: PhotoStore(postgres: service.postgres),
                    disk: disk,
                    bucket: try await bucket.open(
                        curl: .shared,
                        now: { Date() },
                        logger: service.log.logger(level: .error)
                    ),
                    direction: .disk,
                    onProgress: { _ in },
                    onOutcome: { _, _ in }
                )
                var report = OutcomeCounts<CopyOutcome>()
                await #expect(throws: ObjectStoreError.self) { try await copy(into: &report) }
            }
        }
    }

    @Test("Without one of the stores in the configuration it says which key is missing")
    func configuration() {
        let values = ["DATABASE_URL": "postgresql://localhost/none", "OBJECTS_PATH": "/somewhere"]
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationSource(values: values).read { $0.copying() }
        }
        #expect(error?.description.contains("S3_BUCKET_NAME is missing (the bucket to copy photos from or to)") == true)
    }

    static func upload(
        _ photo: Data,
        count: Int,
        to service: TestService,
        token: String
    ) async throws -> [String] {
        var ids: [String] = []
        for _ in 0..<count {
            let answer = try await service.upload(photo, token: token)
            ids.append(try #require(answer.json["random_id"] as? String, "\(answer.text)"))
        }
        return ids
    }
}
