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
    /// A process that has done much keeps some memory for the next time.
    private static let maxGrowthMiB = 64

    @Test("Of 500 at once each tenth is cancelled at a random moment, for 20 minutes: nothing of them is left")
    func storm() async throws {
        try await RcloneServer.withServer { server in
            // What comes first opens what is kept for as long as the process lives.
            try await Self.run(server, for: .seconds(20))
            let (files, memory) = (try Self.openFileCount(), try ProcessMemory(of: getpid()).resident)
            let (done, cancelled) = try await Self.run(server, for: Self.duration)
            print("\(done) transfers, \(cancelled) of them cancelled")
            #expect(done > 10_000 && cancelled > done / 20)
            try await poll("no connection is left", within: .seconds(30)) { try server.connectionCount == 0 }
            try await poll("no descriptor is left", within: .seconds(30)) { try Self.openFileCount() <= files }
            let growth = (try ProcessMemory(of: getpid()).resident - memory) / 1024
            #expect(growth <= Self.maxGrowthMiB)
        }
    }

    @discardableResult
    private static func run(_ server: RcloneServer, for duration: Duration) async throws -> (done: Int, cancelled: Int)
    {
        try await withS3Client(of: server) { client in
            let end = ContinuousClock.now + duration
            let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for number in 0..<parallelCount {
                    group.addTask {
                        var (done, cancelled) = (0, 0)
                        while ContinuousClock.now < end {
                            let isCancelled = Int.random(in: 0..<10) == 0
                            let key = "\(number)-\(done)"
                            let wasCancelled = try await transfer(key, client: client, isCancelled: isCancelled)
                            done += 1
                            if wasCancelled { cancelled += 1 }
                        }
                        return (done, cancelled)
                    }
                }
                return try await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
            }
            try await poll("no transfer is left") { await client.transferCount == 0 }
            return counts
        }
    }

    /// Puts an object, gets it again and deletes it.
    ///
    /// - Returns: Whether it was cancelled in between.
    private static func transfer(_ key: String, client: S3Client, isCancelled: Bool) async throws -> Bool {
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
            return false
        } catch S3Error.cancelled where isCancelled {
            return true
        }
    }

    private static func openFileCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
