import AsyncHTTPClient
import DatabaseTestSupport
import Foundation
import NIOCore
import Postgres
import S3
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import PhotoService

@Suite("Each fault of a store, once to each kind of request", .timeLimit(.minutes(5)))
struct EachFaultTests {
    /// The kinds of requests, by method and the first parameter, and whether they have a body.
    private static let kinds: [(method: String, parameter: String, hasBody: Bool)] = [
        ("PUT", "", true), ("POST", "uploads", false), ("PUT", "partNumber", true), ("POST", "uploadId", true),
        ("GET", "", false), ("HEAD", "", false), ("DELETE", "", false), ("POST", "delete", true),
    ]

    /// Short, so that what is stalled is soon given up; who is slower by chance fails, which nobody may mind.
    private static var deadlines: S3Deadlines {
        var deadlines = S3Deadlines()
        deadlines.connect = .seconds(1)
        deadlines.silence = .milliseconds(800)
        deadlines.giveUp = .milliseconds(900)
        deadlines.retryWindow = .milliseconds(500)
        deadlines.call = .milliseconds(1_200)
        deadlines.list = .milliseconds(1_200)
        deadlines.put = .milliseconds(1_500)
        deadlines.putInParts = .milliseconds(3_000)
        return deadlines
    }

    /// What clients of the store know.
    private final class Ledger: Sendable {
        private let state = Mutex((kept: Set<String>(), surprises: [String](), successCount: 0))

        var kept: Set<String> { state.withLock { $0.kept } }
        var surprises: [String] { state.withLock { $0.surprises } }
        var successCount: Int { state.withLock { $0.successCount } }

        func keep(_ id: String) { state.withLock { _ = $0.kept.insert(id) } }

        /// Takes one to be deleted, so that nobody else does.
        func take() -> String? {
            state.withLock { state in state.kept.min().flatMap { state.kept.remove($0) } }
        }

        /// Runs something that may fail as a store that is not available, and no otherwise.
        func run(_ name: String, _ body: () async throws -> Void) async {
            do {
                try await body()
                state.withLock { $0.successCount += 1 }
            } catch ObjectStoreError.unavailable {
            } catch {
                state.withLock { $0.surprises.append("\(name): \(error)") }
            }
        }
    }

    @Test("Each success is true, each failure says that the store is not available, and rows and objects match")
    func each() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                try await ServedSelfie.withObjects(.s3) { objects in
                    guard case .s3(let server, _) = objects else { throw NotInTime(what: "a bucket") }
                    let (delay, stall): (Duration, Duration) = (.milliseconds(1_700), .milliseconds(1_700))
                    try await FaultyProxy.with(server, seed: 1, delay: delay, stall: stall) { proxy in
                        let configuration = S3Client.httpClientConfiguration(deadlines: Self.deadlines)
                        let httpClient = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                        let scene = CrashScene(
                            steps: StepCounter(),
                            postgres: postgres,
                            objects: objects,
                            httpClient: httpClient,
                            databaseURL: url,
                            endpoint: proxy.endpoint
                        )
                        let result = await Result { try await Self.suffer(scene, proxy) }
                        try await httpClient.shutdown()
                        try result.get()
                    }
                }
            }
        }
    }

    private static func suffer(_ scene: CrashScene, _ proxy: FaultyProxy) async throws {
        let account = try await CrashAccount.make(scene)
        let store = try scene.store(isCounted: true, deadlines: deadlines)
        let ledger = Ledger()
        // The first makes the bucket.
        for _ in 0..<3 { ledger.keep(try await account.addPhoto()) }
        let read = try await account.addPhoto()
        proxy.beginEachFaultOnce()
        try await poll("each fault of each kind", within: .seconds(150)) {
            await withTaskGroup(of: Void.self) { tasks in
                for _ in 0..<2 {
                    for bytes in [CrashCase.imageBytes, CrashCase.inPartsBytes] {
                        tasks.addTask { await upload(bytes, account, store, ledger) }
                    }
                    tasks.addTask { await look(read, store, ledger) }
                }
                tasks.addTask { await delete(account, store, ledger) }
            }
            return missing(proxy).isEmpty
        }
        proxy.endFaults()
        try await poll("the last faults are over") { proxy.faultsUnderWay == 0 }
        #expect(ledger.surprises == [])
        #expect(ledger.successCount > 0)
        try await scene.sweepLater()
        try await scene.expectWhole(of: account.userID, "in the end")
        let listed = try await account.listed()
        #expect(Set(listed) == ledger.kept.union([read]))
    }

    private static func upload(_ bytes: Int, _ account: CrashAccount, _ store: any ObjectStore, _ ledger: Ledger) async
    {
        await ledger.run("upload") {
            let new = try await account.photo(bytes: bytes)
            let upload = UploadPhoto(photos: account.photos, objects: store)
            ledger.keep(try await upload(new, sessionID: account.session.id, logger: account.logger).randomID)
        }
    }

    private static func look(_ id: String, _ store: any ObjectStore, _ ledger: Ledger) async {
        await ledger.run("length") {
            let length = try await store.length(key: id)
            if length != 1_000 { throw NotInTime(what: "the right length, not \(String(describing: length))") }
        }
        await ledger.run("open") {
            guard let object = try await store.open(key: id, range: nil) else { throw NotInTime(what: "a photo") }
            var bytes = Data()
            try await object.bytes.forEachChunk { bytes += Data($0.readableBytesView) }
            if bytes != CrashCase.image(bytes: 1_000) { throw NotInTime(what: "a whole photo") }
        }
    }

    /// One by itself, and others with the sweeper's one call.
    private static func delete(_ account: CrashAccount, _ store: any ObjectStore, _ ledger: Ledger) async {
        let delete = DeletePhoto(photos: account.photos, objects: store)
        await ledger.run("deletion") {
            guard let id = ledger.take() else { return }
            let isDone = try await delete(id, ofUser: account.userID, from: .test, logger: account.logger)
            if !isDone { throw NotInTime(what: "a deletion") }
        }
        await ledger.run("sweep") {
            for _ in 0..<2 {
                guard let id = ledger.take() else { continue }
                _ = try await account.photos.remove(id, ofUser: account.userID, from: .test)
            }
            let sweeper = PhotoSweeper(
                photos: account.photos,
                objects: store,
                interval: .seconds(600),
                now: { Date() },
                logger: account.logger
            )
            try await sweeper.sweep()
        }
    }

    /// What did not happen yet.
    private static func missing(_ proxy: FaultyProxy) -> Set<String> {
        let seen = proxy.records.compactMap { record -> String? in
            guard let fault = record.fault else { return nil }
            let query = record.target.split(separator: "?").dropFirst().first ?? ""
            return "\(record.method) \(query.prefix { $0 != "=" && $0 != "&" }) \(fault)"
        }
        let expected = kinds.flatMap { kind in
            StoreFault.allCases.filter { fault in
                switch fault {
                case .resetInBody, .stallInBody: kind.hasBody
                case .errorInSuccess: kind.parameter == "uploadId"
                default: true
                }
            }.map { "\(kind.method) \(kind.parameter) \($0)" }
        }
        return Set(expected).subtracting(seen)
    }
}
