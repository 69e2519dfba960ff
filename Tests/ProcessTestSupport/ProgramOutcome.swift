package import Foundation
import ServerProcesses
import TestSupport

/// What a program left behind that ran to its end.
package struct ProgramOutcome: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Passed as they are.
    ///   - environment: All of its environment but what `ChildEnvironment` adds.
    ///   - directory: The folder to run it in.
    ///   - input: What it reads from standard input.
    ///   - patience: How long it may take.
    /// - Returns: How it ended and what it printed.
    /// - Throws: An error of Foundation's when it can't be started.
    package static func run(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: URL,
        input: String = "",
        patience: Duration = .seconds(600)
    ) async throws -> ProgramOutcome {
        // Files, not pipes: a full pipe without a reader would block both.
        try await TemporaryFolder.with { folder in
            for name in ["out", "err"] {
                try Data().write(to: folder.appending(path: name))
            }
            try Data(input.utf8).write(to: folder.appending(path: "in"))
            let process = Process()
            process.executableURL = executable
            process.arguments = arguments
            process.environment = ChildEnvironment.with(environment)
            process.currentDirectoryURL = directory
            let files = [
                try FileHandle(forReadingFrom: folder.appending(path: "in")),
                try FileHandle(forWritingTo: folder.appending(path: "out")),
                try FileHandle(forWritingTo: folder.appending(path: "err")),
            ]
            // Foundation keeps a process that has run, and its files with it. With 1,360 of them open, it crashes.
            defer { for file in files { try? file.close() } }
            process.standardInput = files[0]
            process.standardOutput = files[1]
            process.standardError = files[2]
            try process.run()
            defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
            try await poll("\(executable.lastPathComponent) ends", within: patience) { !process.isRunning }
            return ProgramOutcome(
                status: process.terminationStatus,
                output: try String(contentsOf: folder.appending(path: "out"), encoding: .utf8),
                errors: try String(contentsOf: folder.appending(path: "err"), encoding: .utf8)
            )
        }
    }
}
