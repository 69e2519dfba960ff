package import Foundation
import Glibc
import Synchronization
package import TestSupport

/// The executable `selfie` as a process of its own.
package final class SelfieProcess: Sendable {
    /// The executable beside the tests that run.
    package static var executable: URL {
        get throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(filePath: tests).deletingLastPathComponent().appending(path: "selfie")
        }
    }

    private let process: Process
    private let outputFile: URL

    /// Starts the executable.
    ///
    /// - Parameters:
    ///   - arguments: The command and its options.
    ///   - environment: All of its environment but `PATH`.
    ///   - directory: The folder to run it in.
    /// - Throws: An error of Foundation's when it can't be started.
    package init(
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: URL = ProjectFolder.root
    ) throws {
        outputFile = FileManager.default.temporaryDirectory.appending(path: "selfie-\(UUID().uuidString).log")
        try Data().write(to: outputFile)
        process = Process()
        process.executableURL = try Self.executable
        process.arguments = arguments
        process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
            .merging(environment) { $1 }
        process.currentDirectoryURL = directory
        let handle = try FileHandle(forWritingTo: outputFile)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: outputFile)
    }

    package var processID: Int32 { process.processIdentifier }

    /// All that it printed so far.
    package var output: String { (try? String(contentsOf: outputFile, encoding: .utf8)) ?? "" }

    /// Sends it a signal.
    package func signal(_ number: Int32) {
        Glibc.kill(process.processIdentifier, number)
    }

    /// Waits until it prints something that matches.
    ///
    /// - Parameters:
    ///   - pattern: A regular expression with one group.
    ///   - timeout: How long to wait.
    /// - Returns: What the group matched.
    /// - Throws: `SelfieProcessError` when it ends or the time is over before.
    package func waitForOutput(_ pattern: String, timeout: Duration = .seconds(30)) async throws -> String {
        let regex = try Regex(pattern)
        return try await look(timeout: timeout) {
            self.output.firstMatch(of: regex).flatMap { $0.output.count > 1 ? $0.output[1].substring : nil }
                .map(String.init)
        }
    }

    /// Waits until it ends.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: Its exit status; for a signal, 128 and the signal's number.
    /// - Throws: `SelfieProcessError` when the time is over before.
    package func waitForExit(timeout: Duration = .seconds(40)) async throws -> Int32 {
        let deadline = ContinuousClock.now + timeout
        while process.isRunning {
            guard ContinuousClock.now < deadline else { throw SelfieProcessError(output: output) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }

    private func look(timeout: Duration, _ look: () -> String?) async throws -> String {
        let deadline = ContinuousClock.now + timeout
        while ContinuousClock.now < deadline {
            let isRunning = process.isRunning
            if let found = look() { return found }
            if !isRunning { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw SelfieProcessError(output: output)
    }

    /// Runs the executable to its end.
    ///
    /// - Parameters:
    ///   - arguments: The command and its options.
    ///   - environment: All of its environment but `PATH`.
    ///   - directory: The folder to run it in.
    ///   - input: What it reads from standard input.
    /// - Returns: How it ended and what it printed.
    /// - Throws: An error of Foundation's when it can't be started.
    package static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: URL = ProjectFolder.root,
        input: String = ""
    ) async throws -> ProgramOutcome {
        try await ProgramOutcome.run(
            executable,
            arguments,
            environment: environment,
            directory: directory,
            input: input
        )
    }
}

/// A process that ended or took too long before it did what a test waits for.
package struct SelfieProcessError: Error, CustomStringConvertible {
    let output: String

    package var description: String { "the process did not do what was expected; it printed:\n\(output)" }
}
