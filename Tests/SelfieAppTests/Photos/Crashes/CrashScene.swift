import Concurrency
import ConnectionTestSupport
import Curl
import DatabaseTestSupport
import Foundation
import Logging
import Postgres
import S3
import S3TestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import LinuxFiles
@testable import ObjectStore
@testable import SelfiePhotos

/// A database and a store that outlive the processes that use them, and a counter that has those stop at each step.
struct CrashScene: Sendable {
    let steps: StepCounter
    /// Straight to the database.
    let postgres: PostgresClient
    /// For looking at the store from outside.
    let objects: TestObjects
    /// Where a process finds the database, past the counter.
    let databaseURL: String
    /// Where a process finds the bucket, past the counter; nil for a folder.
    let endpoint: String?

    /// Identifies the processes' connections, to see when the server has noticed their end.
    private static let applicationName = "process"

    /// Runs a body with a scene.
    static func with(_ store: TestStore, _ body: @Sendable (CrashScene) async throws -> Void) async throws {
        let steps = StepCounter()
        try await TestCluster.withDatabase { url in
            let options = try PostgresConfiguration(url: url).options
            let (folder, port) = (try #require(options["host"]), options["port"] ?? "5432")
            let (user, database) = (try #require(options["user"]), try #require(options["dbname"]))
            try await CountedDatabase.with(socket: "\(folder)/.s.PGSQL.\(port)", steps: steps) { port in
                let counted = """
                    postgresql://\(user)@127.0.0.1:\(port)/\(database)?sslmode=disable&gssencmode=disable\
                    &application_name=\(applicationName)
                    """
                try await TestCluster.withClient(url) { postgres in
                    try await ServedSelfie.withObjects(store) { objects in
                        try await withEndpoint(of: objects, steps: steps) { endpoint in
                            let scene = CrashScene(
                                steps: steps,
                                postgres: postgres,
                                objects: objects,
                                databaseURL: counted,
                                endpoint: endpoint
                            )
                            try await body(scene)
                        }
                    }
                }
            }
        }
    }

    private static func withEndpoint(
        of objects: TestObjects,
        steps: StepCounter,
        _ body: @Sendable (String?) async throws -> Void
    ) async throws {
        guard case .s3(let server, _) = objects else { return try await body(nil) }
        try await CountedStore.with(server, steps: steps) { try await body($0) }
    }

    /// The store as a process sees it.
    ///
    /// - Parameters:
    ///   - isCounted: Whether what is asked of it goes past the counter.
    ///   - deadlines: How long a bucket is waited for.
    ///   - clock: What these are kept by.
    /// - Returns: The store.
    /// - Throws: What keeps a folder or keys from being used.
    func store(isCounted: Bool, deadlines: S3Deadlines = .patient, clock: any MonotonicClock = ContinuousClock()) throws
        -> any ObjectStore
    {
        switch objects {
        case .disk(let folder):
            return try DiskObjectStore(directory: folder.path, steps: isCounted ? .counted(by: steps) : FileSteps())
        case .s3(let server, let bucket):
            var uploads = S3UploadPolicy()
            uploads.maxSinglePutBytes = CrashCase.inPartsBytes - 1
            uploads.partBytes = CrashCase.inPartsBytes / 2
            uploads.partsInFlight = 1
            let keys = try S3Credentials(accessKeyID: server.accessKeyID, secretAccessKey: server.secretAccessKey)
            let curl = CurlClient(S3Client.connections(deadlines: deadlines))
            let client = S3Client(
                curl: curl,
                configuration: try S3Configuration(
                    bucket: bucket,
                    region: "us-east-1",
                    endpoint: isCounted ? try #require(endpoint) : server.endpoint
                ),
                credentials: S3CredentialCache(source: .fixed(keys), curl: curl, now: { Date() }),
                deadlines: deadlines,
                retries: S3RetryPolicy(random: { $0.lowerBound }),
                uploads: uploads,
                clock: clock,
                now: { Date() }
            )
            return S3ObjectStore(client: client, transferPauses: [.zero, .zero, .zero])
        }
    }

    /// Runs a body as a process that may come to its end at a step.
    ///
    /// - Parameters:
    ///   - fault: Where it does.
    ///   - body: What the process does; returns whether it answered that it was done.
    /// - Returns: Whether anybody got that answer, and whether there was such a step.
    /// - Throws: What keeps the process from starting.
    func process(
        _ fault: StepCounter.Fault,
        _ body: @Sendable @escaping (CrashProcess) async throws -> Bool
    ) async throws -> (isAnswered: Bool, hasFailed: Bool, count: Int) {
        var configuration = try PostgresConfiguration.patient(url: databaseURL, maxConnections: 1)
        // A caller that wants a connection to a stopped server is refused by the next attempt, not by the time limit.
        configuration.pool.maxBackOff = .milliseconds(1)
        let client = PostgresClient(configuration: configuration)
        // Connecting is no step.
        try await poll("a connection") { (try? await client.read("SELECT")) != nil }
        let process = CrashProcess(postgres: client, objects: try store(isCounted: true))
        let (start, starter) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            for await _ in start {}
            return (try? await body(process)) ?? false
        }
        // Answers to abandoned requests, and of ended processes, reach no client.
        let isHeard = fault.reach == .step || fault.reach == .server
        steps.begin(fault) { if !isHeard { work.cancel() } }
        starter.finish()
        let isDone = await work.value
        let count = steps.count
        let hasFailed = steps.end()
        await client.close()
        try await poll("the store is done with what it was asked for") { steps.underWayCount == 0 }
        try await poll("the server has noticed the end of the process") {
            try await postgres.read(
                """
                SELECT FROM pg_stat_activity
                WHERE application_name = \(Self.applicationName) AND datname = current_database()
                """
            ).isEmpty
        }
        return (isDone && (isHeard || !hasFailed), hasFailed, count)
    }

    /// What the sweeper of another process does once all is old that was left.
    func sweepLater() async throws {
        try await postgres.write(
            "UPDATE photos SET created_at = created_at - interval '1 hour' WHERE state = 'pending'"
        )
        try await postgres.write("UPDATE object_deletions SET due_at = due_at - interval '1 hour'")
        let sweeper = PhotoSweeper(
            photos: PhotoStore(postgres: postgres),
            objects: try store(isCounted: false),
            now: { Date(timeIntervalSinceNow: 3_600) },
            logger: TestLog().logger(level: .error)
        )
        try await sweeper.sweep()
    }

    /// Expects rows and objects to match one to one, a user's objects to be whole, and nothing half-done to be left.
    ///
    /// Parts that a bucket got of an upload that was not finished are no object, and are left to `reconcile`.
    func expectWhole(of userID: Int, _ comment: Comment) async throws {
        let rows = try await postgres.read("SELECT user_id, random_id, state, byte_count FROM photos")
        let states = try rows.map { try $0.decode("state", as: String.self) }
        #expect(states.allSatisfy { $0 == "ready" }, comment)
        let ids = try rows.map { try $0.decode("random_id", as: String.self) }
        #expect(objects.keys().filter { !$0.hasPrefix(".rclone_temp_multipart_") } == ids.sorted(), comment)
        for (row, id) in zip(rows, ids) where try row.decode("user_id") == userID {
            let isWhole = objects.bytes(key: id) == CrashCase.image(bytes: try row.decode("byte_count"))
            #expect(isWhole, "\(comment): \(id)")
        }
        #expect(try await postgres.read("SELECT FROM object_deletions").isEmpty, comment)
    }
}

/// What a process needs for its work.
struct CrashProcess: Sendable {
    let postgres: PostgresClient
    let objects: any ObjectStore

    var photos: PhotoStore { PhotoStore(postgres: postgres) }
}

extension FileSteps {
    /// The calls, each a step; one that fails may have done half of what it was to do.
    static func counted(by counter: StepCounter) -> FileSteps {
        @Sendable func step<Result>(_ call: () throws -> Result, half: () throws -> Void = {}) throws -> Result {
            switch counter.next(.store) {
            case .goesOn: return try call()
            case .failsBefore: try half()
            case .failsAfter: _ = try call()
            }
            counter.finish()
            throw PosixFileError(call: "test", code: EIO)
        }
        let calls = FileSteps()
        return FileSteps(
            create: { path in try step { try calls.create(path) } },
            write: { file, bytes in
                let half = UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))
                try step({ try calls.write(file, bytes) }, half: { try calls.write(file, half) })
            },
            synchronize: { file in try step { try calls.synchronize(file) } },
            rename: { path, newPath in try step { try calls.rename(path, newPath) } },
            remove: { path in try step { try calls.remove(path) } }
        )
    }
}
