import Encodings
package import Foundation
import Glibc
import Synchronization

/// A server in a process of its own, with a temporary folder, for a test or a measurement.
///
/// It ends with ``end(within:)``, ``kill()`` or ``stop()``, and with this process even when that crashes.
package final class ServerProcess: Sendable {
    /// The folder for the server's files.
    ///
    /// ``stop()`` removes it.
    package let folder: URL

    private let name: String
    private let running: Mutex<Running?> = Mutex(nil)

    /// The server's output.
    private var log: URL { folder.appending(path: "server.log") }

    private struct Running {
        let shell: Process
        let lifeline: Pipe
        let output: Pipe
        let serverID: pid_t
    }

    /// Makes the folder.
    ///
    /// Nothing runs yet.
    ///
    /// - Parameter name: the name in errors and in the folder's path.
    /// - Throws: An error of Foundation's.
    package init(_ name: String) throws {
        self.name = name
        folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A port for a server that can't choose one, or that restarts on the same one.
    ///
    /// It is below the ephemeral ports, so no other program gets it while the server is down.
    package static func anyPort() -> Int { .random(in: 20_000..<30_000) }

    /// Starts the server and waits for it.
    ///
    /// - Parameters:
    ///   - command: the executable's path and its arguments.
    ///   - environment: the whole environment; nil for this process's.
    ///   - ready: gets the server's output so far. A result that is not nil ends the waiting.
    /// - Returns: the result of `ready`.
    /// - Throws: `ServerProcessError`, or the error of `ready`. Then the server is ended.
    package func launch<Found>(
        _ command: [String],
        environment: [String: String]? = nil,
        until ready: (String) throws -> Found?
    ) async throws -> Found {
        try Data().write(to: log)
        let lifeline = Pipe()
        let output = Pipe()
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        // After a crash of this process, the shell kills the server and ends. It must not `wait`: that needs SIGCHLD,
        // and Foundation starts processes with SIGCHLD blocked.
        shell.arguments = ["-c", #""$@" >&2 & echo $!; read -r end; kill -KILL $!"#, "sh"] + command
        if let environment { shell.environment = environment }
        shell.standardInput = lifeline
        shell.standardOutput = output
        shell.standardError = try FileHandle(forWritingTo: log)
        try shell.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let serverID = pid_t(line.trimmingWhitespace()) else {
            throw ServerProcessError.notStarted(name, log: "the shell printed '\(line)'")
        }
        running.withLock { $0 = Running(shell: shell, lifeline: lifeline, output: output, serverID: serverID) }
        do {
            return try await found("\(name) is ready") {
                if let found = try ready(String(contentsOf: log, encoding: .utf8)) { return found }
                guard isRunning else { throw ServerProcessError.notStarted(name, log: logTail) }
                return nil
            }
        } catch let error {
            kill()
            guard error is NotInTime else { throw error }
            throw ServerProcessError.notStarted(name, log: logTail)
        }
    }

    /// The server's process id; nil when it was not started, or was ended.
    package var processID: pid_t? { running.withLock { $0?.serverID } }

    /// Whether the server has not ended by itself.
    package var isRunning: Bool {
        guard let processID else { return false }
        // An ended process is a zombie until its parent asks for it.
        return ![nil, "Z"].contains(ProcessTable.state(of: processID))
    }

    /// The last lines of the server's output.
    ///
    /// It may have a line for each request.
    package var logTail: String {
        guard let file = try? FileHandle(forReadingFrom: log), let end = try? file.seekToEnd() else { return "" }
        defer { try? file.close() }
        try? file.seek(toOffset: end - min(end, Self.maxLogTailBytes))
        let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(10).joined(separator: "\n")
    }

    private static let maxLogTailBytes: UInt64 = 4_096

    /// Asks the server to end, so that its port refuses connections.
    ///
    /// The folder stays.
    ///
    /// - Parameter timeout: How long it may take. Then it is killed.
    package func end(within timeout: Duration) async {
        if let processID {
            Glibc.kill(processID, SIGTERM)
            try? await poll("\(name) has ended", within: timeout) { !isRunning }
        }
        kill()
    }

    /// Ends the server, so that its port refuses connections.
    ///
    /// The folder stays.
    package func kill() {
        guard let running = running.withLock({ $0.take() }) else { return }
        // At this end of file the shell kills the server. The end of their output shows that both have ended.
        try? running.lifeline.fileHandleForWriting.close()
        _ = try? running.output.fileHandleForReading.readToEnd()
    }

    /// Ends the server for good and removes its folder.
    package func stop() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Halts the server with SIGSTOP.
    ///
    /// Does nothing if it does not run.
    ///
    /// - Throws: `NotInTime`.
    package func halt() async throws {
        if let processID { try await ProcessTable.halt(processID) }
    }

    /// Lets a halted server continue.
    ///
    /// Does nothing if it does not run.
    package func resume() {
        if let processID { ProcessTable.resume(processID) }
    }
}
