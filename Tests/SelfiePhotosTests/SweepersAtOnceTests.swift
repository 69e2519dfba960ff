import DatabaseTestSupport
import Foundation
import Logging
import Postgres
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@testable import LinuxFiles
@testable import ObjectStore
@testable import SelfiePhotos

@Suite("Sweepers of several processes", .timeLimit(.minutes(2)))
struct SweepersAtOnceTests {
    /// What one process removed from the store, and whether its sweep is over.
    private final class Record: Sendable {
        private let state = Mutex((removed: [String](), isDone: false))

        var removed: [String] { state.withLock { $0.removed } }
        var isDone: Bool { state.withLock { $0.isDone } }

        func remove(_ path: String) throws {
            state.withLock { $0.removed.append(URL(filePath: path).lastPathComponent) }
            try PosixFile.remove(path)
        }

        func finish() { state.withLock { $0.isDone = true } }
    }

    /// Sweeps once, as a process with connections of its own.
    private static func sweep(_ scene: PhotoSweeperTests.Scene, _ record: Record) -> Task<Void, any Error> {
        let (url, folder) = (scene.databaseURL, scene.folder.path)
        return Task {
            defer { record.finish() }
            var steps = FileSteps()
            steps.remove = { try record.remove($0) }
            let objects = try DiskObjectStore(directory: folder, steps: steps)
            try await TestCluster.withClient(url) { postgres in
                let sweeper = PhotoSweeper(
                    photos: PhotoStore(postgres: postgres),
                    objects: objects,
                    now: { Date() },
                    logger: TestLog().logger(level: .info)
                )
                try await sweeper.sweep()
            }
        }
    }

    /// Has the first claim, once it has locked its rows, wait for a lock of the test's, and no other that comes meanwhile.
    private static func holdFirstClaim(_ postgres: PostgresClient) async throws {
        try await postgres.write(
            """
            CREATE FUNCTION hold_first_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF pg_try_advisory_xact_lock(2) THEN PERFORM pg_advisory_xact_lock(1); END IF;
                RETURN NULL;
            END $$
            """
        )
        try await postgres.write(
            """
            CREATE TRIGGER held AFTER UPDATE ON object_deletions
            FOR EACH ROW EXECUTE FUNCTION hold_first_claim()
            """
        )
    }

    private static func waiting(_ scene: PhotoSweeperTests.Scene) async throws -> Int {
        let rows = try await scene.postgres.read(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        )
        return try rows[0].decode("count")
    }

    @Test("While one has taken on a batch, another does all the rest, and no object is deleted twice")
    func two() async throws {
        try await PhotoSweeperTests().withScene { scene in
            var expected: [String] = []
            for _ in 0..<20 { expected.append(try await scene.begin(secondsAgo: 100)) }
            try await scene.photos.giveUpPending()
            // A batch is a hundred. What has no object is work as well.
            try await scene.postgres.write(
                "INSERT INTO object_deletions (random_id) SELECT 'gone-' || n FROM generate_series(1, 140) AS n"
            )
            expected += (1...140).map { "gone-\($0)" }
            try await Self.holdFirstClaim(scene.postgres)
            let (first, second) = (Record(), Record())
            // A pooler would lend the session that has the lock to others.
            let direct = try PostgresConfiguration.direct(url: scene.databaseURL, maxConnections: 1)
            let sweep = try await PostgresClient.withClient(configuration: direct) { holder in
                _ = try await holder.read("SELECT pg_advisory_lock(1)")
                let held = Self.sweep(scene, first)
                try await poll("the first has taken on a batch") { try await Self.waiting(scene) == 1 }
                let other = Self.sweep(scene, second)
                try await poll("the second is done, or waits for the first") {
                    if second.isDone { return true }
                    return try await Self.waiting(scene) > 1
                }
                #expect(second.isDone && !first.isDone)
                #expect(first.removed.isEmpty)
                #expect(second.removed.count == 60)
                #expect(try await scene.deletions().count == 100)
                _ = try await holder.read("SELECT pg_advisory_unlock(1)")
                try await other.value
                return held
            }
            try await sweep.value
            #expect(first.removed.count == 100)
            #expect((first.removed + second.removed).sorted() == expected.sorted())
            #expect(try scene.keys().isEmpty)
            #expect(try await scene.deletions().isEmpty)
        }
    }
}
