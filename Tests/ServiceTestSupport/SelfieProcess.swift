import DatabaseTestSupport
package import Foundation
import Glibc
package import ProcessTestSupport
import ServerProcesses
import Synchronization
import TestSupport

/// The executable `selfie` as a process of its own.
package final class SelfieProcess: Sendable {
    /// The executable that `SELFIE_PROGRAM` names, as `bin/soak` does, or the one beside the tests that run.
    package static var executable: URL {
        get throws {
            if let named = ProcessInfo.processInfo.environment["SELFIE_PROGRAM"] { return URL(filePath: named) }
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(filePath: tests).deletingLastPathComponent().appending(path: "selfie")
        }
    }

    private let process: Process
    /// Removed with this value: its output, and its working folder unless another one is given.
    private let ownFolder: URL

    /// Starts the executable.
    ///
    /// - Parameters:
    ///   - arguments: The command and its options.
    ///   - environment: All of its environment but what `ChildEnvironment` adds.
    ///   - directory: The folder to run it in; by default a new one, in which no `.env` can lie.
    ///   - standardOutput: Where it prints instead, so that `output` has only its errors.
    /// - Throws: An error of Foundation's when it can't be started.
    package init(
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: URL? = nil,
        standardOutput: FileHandle? = nil
    ) throws {
        ownFolder = FileManager.default.temporaryDirectory.appending(path: "selfie-process-\(UUID().uuidString)")
        let workFolder = ownFolder.appending(path: "work")
        try FileManager.default.createDirectory(at: workFolder, withIntermediateDirectories: true)
        let outputFile = ownFolder.appending(path: "output")
        try Data().write(to: outputFile)
        process = Process()
        process.executableURL = try Self.executable
        process.arguments = arguments
        process.environment = ChildEnvironment.with(TestPooler.settings(environment, command: arguments))
        process.currentDirectoryURL = directory ?? workFolder
        let handle = try FileHandle(forWritingTo: outputFile)
        process.standardOutput = standardOutput ?? handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: ownFolder)
    }

    package var processID: Int32 { process.processIdentifier }

    /// All that it printed so far.
    package var output: String {
        (try? String(contentsOf: ownFolder.appending(path: "output"), encoding: .utf8)) ?? ""
    }

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
    package func waitForOutput(_ pattern: String, timeout: Duration = .seconds(60)) async throws -> String {
        let regex = try Regex(pattern)
        do {
            return try await found("output", within: timeout) {
                let isRunning = process.isRunning
                let group = output.firstMatch(of: regex).flatMap { $0.output.count > 1 ? $0.output[1].substring : nil }
                if group == nil, !isRunning { throw NotInTime(what: "output") }
                return group.map(String.init)
            }
        } catch is NotInTime {
            throw SelfieProcessError(output: output)
        }
    }

    /// Waits until it ends.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: Its exit status; for a signal, 128 and the signal's number.
    /// - Throws: `SelfieProcessError` when the time is over before.
    package func waitForExit(timeout: Duration = .seconds(60)) async throws -> Int32 {
        do {
            try await poll("the end", within: timeout) { !process.isRunning }
        } catch is NotInTime {
            throw SelfieProcessError(output: output)
        }
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }

    /// Runs the executable to its end.
    ///
    /// - Parameters:
    ///   - arguments: The command and its options.
    ///   - environment: All of its environment but what `ChildEnvironment` adds.
    ///   - directory: The folder to run it in; by default a new one, in which no `.env` can lie.
    ///   - input: What it reads from standard input.
    /// - Returns: How it ended and what it printed.
    /// - Throws: An error of Foundation's when it can't be started.
    package static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: URL? = nil,
        input: String = ""
    ) async throws -> ProgramOutcome {
        guard let directory else {
            return try await TemporaryFolder.with { folder in
                try await run(arguments, environment: environment, directory: folder, input: input)
            }
        }
        let outcome = try await ProgramOutcome.run(
            executable,
            arguments,
            environment: TestPooler.settings(environment, command: arguments),
            directory: directory,
            input: input
        )
        UsedSecrets(TestService.secrets(of: environment)).expectNone(in: outcome.output + outcome.errors)
        return outcome
    }
}

/// A process that ended or took too long before it did what a test waits for.
package struct SelfieProcessError: Error, CustomStringConvertible {
    let output: String

    package var description: String { "the process did not do what was expected; it printed:\n\(output)" }
}
