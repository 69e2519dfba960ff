import CLinux
import Curl
import Foundation
import Glibc
import NIOCore
import ProcessTestSupport
import S3
import S3TestSupport
import ServerProcesses
import Testing

@Suite("A storm of transfers", .timeLimit(.minutes(40)))
struct TransferStormSoakTests {
    private static let parallelCount = 500
    private static let duration = Duration.seconds(20 * 60)
    /// How long the memory of a process grows at first, although nothing is left in use.
    private static let warmUpDuration = Duration.seconds(3 * 60)
    private static let silence = Duration.seconds(20)
    /// A process that has done much keeps some memory for the next time.
    private static let maxGrowthMiB = 64

    @Test("Of 500 at once each tenth is cancelled at a random moment, for 20 minutes: nothing of them is left")
    func storm() async throws {
        try await RcloneServer.withServer { server in
            // What comes first opens what is kept for as long as the process lives.
            try await Self.run(server, for: Self.warmUpDuration)
            let (files, memory) = (try Self.openFileCount(), try Self.memoryInUse())
            let counts = try await Self.run(server, for: Self.duration)
            print(counts)
            #expect(counts.completed > 10_000 && counts.cancelled > counts.completed / 20)
            // The store's own errors are answers. It may give a few when 500 clients press it.
            #expect(counts.refused <= counts.completed / 1_000)
            try await poll("no connection is left", within: .seconds(30)) { try server.connectionCount == 0 }
            try await poll("no descriptor is left", within: .seconds(30)) { try Self.openFileCount() <= files }
            let growth = (try Self.memoryInUse() - memory) / 1024
            #expect(growth <= Self.maxGrowthMiB)
        }
    }

    private enum Outcome {
        case completed
        case cancelled
        /// The store answered with a status from 500 on.
        case refused
    }

    private struct Counts {
        var completed = 0
        var cancelled = 0
        var refused = 0

        mutating func add(_ outcome: Outcome) {
            switch outcome {
            case .completed: completed += 1
            case .cancelled: cancelled += 1
            case .refused: refused += 1
            }
        }
    }

    @discardableResult
    private static func run(_ server: RcloneServer, for duration: Duration) async throws -> Counts {
        var deadlines = S3Deadlines.patient
        // Longer would hold more: a cancelled `Task.sleep` keeps its timer until it would have ended.
        deadlines.silence = silence
        return try await withS3Client(of: server, deadlines: deadlines) { client in
            let end = ContinuousClock.now + duration
            let counts = try await withThrowingTaskGroup(of: [Outcome].self) { group in
                for number in 0..<parallelCount {
                    group.addTask {
                        var outcomes: [Outcome] = []
                        while ContinuousClock.now < end {
                            let isCancelled = Int.random(in: 0..<10) == 0
                            let key = "\(number)-\(outcomes.count)"
                            outcomes.append(try await transfer(key, client: client, isCancelled: isCancelled))
                        }
                        return outcomes
                    }
                }
                return try await group.reduce(into: Counts()) { counts, outcomes in
                    for outcome in outcomes { counts.add(outcome) }
                }
            }
            try await poll("no transfer is left") { await client.transferCount == 0 }
            return counts
        }
    }

    /// Puts an object, gets it again and deletes it.
    private static func transfer(_ key: String, client: S3Client, isCancelled: Bool) async throws -> Outcome {
        let bytes = ByteBuffer(repeating: .random(in: 0...255), count: Int.random(in: 1...200_000))
        let task = Task {
            try await client.put(key: key, body: S3Body(bytes), contentType: "image/jpeg")
            var received = ByteBuffer()
            for try await var chunk in try await client.get(key: key).bytes { received.writeBuffer(&chunk) }
            guard received == bytes else { throw NotInTime(what: "the same bytes") }
            _ = try await client.delete(keys: [key])
        }
        if isCancelled {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...200)))
            task.cancel()
        }
        do {
            try await task.value
            return .completed
        } catch S3Error.cancelled where isCancelled {
            return .cancelled
        } catch S3Error.unavailable(let failure) where failure.status ?? 0 >= 500 {
            return .refused
        }
    }

    /// The resident KiB, without what the C library keeps for the next allocations.
    private static func memoryInUse() throws -> Int {
        _ = malloc_trim(0)
        return try ProcessMemory(of: getpid()).resident
    }

    private static func openFileCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
