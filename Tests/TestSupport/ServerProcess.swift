package import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A server that a test has to itself, in a process of its own, with a temporary folder.
///
/// It ends with ``kill()`` or ``stop()``, and with the test process even when that crashes.
package final class ServerProcess: Sendable {
    /// For the server's files; goes with ``stop()``.
    package let folder: URL

    private let name: String
    private let running: Mutex<Running?> = Mutex(nil)

    private struct Running {
        let shell: Process
        let lifeline: Pipe
        let output: Pipe
        let serverID: pid_t
    }

    /// Makes the folder; nothing runs yet.
    ///
    /// - Parameter name: what errors and the folder are named after.
    /// - Throws: An error of Foundation's.
    package init(_ name: String) throws {
        self.name = name
        folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A port for a server that can't choose one, or must find it free when it comes back.
    ///
    /// One below those that systems give out themselves, so that nobody takes it while the server is down.
    package static func anyPort() -> Int { .random(in: 20_000..<30_000) }

    /// Starts the server and waits for it.
    ///
    /// - Parameters:
    ///   - command: the executable's path and its arguments.
    ///   - ready: gets all that the server wrote to its standard error so far; what it returns ends the waiting.
    /// - Returns: what `ready` found.
    /// - Throws: `TestProgramError`, or the error of `ready`; the server is gone then.
    package func launch<Found>(_ command: [String], until ready: (String) throws -> Found?) async throws -> Found {
        let log = folder.appending(path: "server.log")
        try Data().write(to: log)
        let lifeline = Pipe()
        let output = Pipe()
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        // The shell outlives a crash of the tests just long enough to take the server with it. It must not `wait`
        // for it: Foundation starts processes with SIGCHLD blocked, which that would need.
        shell.arguments = ["-c", #""$@" & echo $!; read -r end; kill -KILL $!"#, "sh"] + command
        shell.standardInput = lifeline
        shell.standardOutput = output
        shell.standardError = try FileHandle(forWritingTo: log)
        try shell.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let serverID = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw TestProgramError.notStarted(name, log: "the shell printed '\(line)'")
        }
        running.withLock { $0 = Running(shell: shell, lifeline: lifeline, output: output, serverID: serverID) }
        do {
            return try await found("\(name) is ready") { try ready(String(contentsOf: log, encoding: .utf8)) }
        } catch let error {
            kill()
            guard error is NotInTime else { throw error }
            throw TestProgramError.notStarted(name, log: try String(contentsOf: log, encoding: .utf8))
        }
    }

    /// Ends the server, so that its port refuses connections; the folder stays.
    package func kill() {
        guard let running = running.withLock({ $0.take() }) else { return }
        // The shell waits for this end of file to kill the server; theirs tells that both are gone.
        try? running.lifeline.fileHandleForWriting.close()
        _ = try? running.output.fileHandleForReading.readToEnd()
    }

    /// Ends the server for good and removes its folder.
    package func stop() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Halts the server with SIGSTOP; nothing when it does not run.
    ///
    /// - Throws: `NotInTime`.
    package func halt() async throws {
        if let processID = running.withLock({ $0?.serverID }) { try await ProcessTable.halt(processID) }
    }

    /// Lets a halted server run on; nothing when it does not run.
    package func resume() {
        if let processID = running.withLock({ $0?.serverID }) { ProcessTable.resume(processID) }
    }
}

/// Why there is nothing to test against.
package enum TestProgramError: Error, CustomStringConvertible {
    /// A program was not found; the tests fail instead of testing nothing.
    case missing(String)
    /// The process did not begin to listen.
    case notStarted(String, log: String)
    /// Somebody else listens on the port.
    case portTaken
    /// A script ended with an error.
    case failed(String, errors: String)

    /// One line that says what to do.
    package var description: String {
        switch self {
        case .missing(let program):
            "\(program) is missing: `bin/test` installs it into .venv in the package's root"
        case .notStarted(let name, let log):
            "\(name) did not start to listen (if something of it is missing, `bin/test` installs it): \(log)"
        case .portTaken:
            "the port is taken"
        case .failed(let script, let errors):
            "\(script) failed (if a module of it is missing, `bin/test` installs it): \(errors)"
        }
    }
}
