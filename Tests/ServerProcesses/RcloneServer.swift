package import Foundation
import Glibc
import Synchronization

/// `rclone serve s3` over a temporary folder.
///
/// Buckets are folders of ``directory``, and objects are files. It remembers the folders that it has read, so change
/// objects only through the server.
package final class RcloneServer: S3Server {
    package let accessKeyID = "AKIATESTONLY\(UInt64.random(in: 10_000_000...99_999_999))"
    package let secretAccessKey = "secret-\(UUID().uuidString)"
    /// The served folder: one folder per bucket, one file per object.
    package let directory: URL

    private let process: ServerProcess
    private let isPublic: Bool
    private let port = Mutex(ServerProcess.anyPort())

    /// The server for tests that neither end nor halt it.
    ///
    /// Each test has buckets of its own there.
    package static var shared: RcloneServer {
        get async throws { try await sharing.value }
    }

    private static let sharing = Task { try await start() }

    /// Starts a server that requires signatures.
    ///
    /// - Returns: the server, answering; ``stop()`` it.
    /// - Throws: `ServerProcessError`.
    package static func start() async throws -> RcloneServer {
        try await start(isPublic: false)
    }

    /// Starts a server.
    ///
    /// - Parameter isPublic: Whether it accepts requests without keys, like a public bucket. Then it accepts any keys,
    ///   too.
    /// - Returns: the server, answering; ``stop()`` it.
    /// - Throws: `ServerProcessError`.
    package static func start(isPublic: Bool) async throws -> RcloneServer {
        let server = try RcloneServer(isPublic: isPublic)
        for _ in 0..<5 {
            do {
                try await server.launch()
                return server
            } catch ServerProcessError.portTaken {
                server.port.withLock { $0 = ServerProcess.anyPort() }
            } catch {
                server.stop()
                throw error
            }
        }
        server.stop()
        throw ServerProcessError.portTaken
    }

    private init(isPublic: Bool) throws {
        self.isPublic = isPublic
        process = try ServerProcess("rclone")
        directory = process.folder.appending(path: "data")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    /// Its URL, which stays the same after ``restart()``.
    package var endpoint: String { "http://127.0.0.1:\(port.withLock { $0 })" }

    /// How many connections to it are open.
    package var connectionCount: Int {
        get throws { try SocketTable.openCount(to: port.withLock { $0 }) }
    }

    /// How many connections it still has although their clients have closed them.
    package var leftCount: Int {
        get throws { try SocketTable.leftCount(at: port.withLock { $0 }) }
    }

    package func stop() { process.stop() }

    /// Ends the server, so that its port refuses connections.
    ///
    /// The objects stay.
    package func kill() { process.kill() }

    /// Kills the server if it runs, and starts it on the same port over the same objects.
    ///
    /// - Throws: `ServerProcessError`.
    package func restart() async throws {
        kill()
        // On a busy machine, the system may take a while to close what a killed process had open.
        for _ in 0..<50 {
            do {
                return try await launch()
            } catch ServerProcessError.portTaken {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        throw ServerProcessError.portTaken
    }

    /// Halts the server with SIGSTOP: it accepts connections, and answers nothing.
    package func suspend() async throws { try await process.halt() }

    /// Lets a halted server run on.
    package func resume() { process.resume() }

    private func launch() async throws {
        let endpoint = endpoint
        var command = [
            try Self.executable(), "serve", "s3", directory.path,
            "--addr", "127.0.0.1:\(port.withLock { $0 })",
            "--config", "/dev/null",
            "--cache-dir", process.folder.appending(path: "cache").path,
            // Otherwise a missing key finds another that looks the same but has other code points.
            "--no-unicode-normalization",
            // Reading a folder again takes longer than all other work for a request.
            "--dir-cache-time", "24h",
        ]
        if !isPublic { command += ["--auth-key", "\(accessKeyID),\(secretAccessKey)"] }
        // The server logs the address when it has begun to listen.
        try await process.launch(command) { log in
            if log.contains("address already in use") { throw ServerProcessError.portTaken }
            return log.contains("Starting s3 server on [\(endpoint)/]") ? () : nil
        }
    }

    private static func executable() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["RCLONE"], !named.isEmpty {
            guard FileManager.default.isExecutableFile(atPath: named) else {
                throw ServerProcessError.missing("\(named), which the environment variable RCLONE names,")
            }
            return named
        }
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates =
            folders.map { "\($0)/rclone" } + [ProjectFolder.root.appending(path: ".venv/bin/rclone").path]
        guard let found = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw ServerProcessError.missing("rclone")
        }
        return found
    }
}
