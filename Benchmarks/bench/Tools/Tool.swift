import Foundation
import Subprocess
import SystemPackage

/// Runs the tools, and collects their output.
enum Tool {
    private static let maxOutputBytes = 1 << 20

    /// The folder of this program, which has `selfie` too.
    static var ownFolder: URL {
        get throws {
            let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(filePath: path).deletingLastPathComponent()
        }
    }

    /// Runs a program that must succeed.
    ///
    /// - Parameters:
    ///   - program: An absolute path, or a name that is found on `PATH`.
    ///   - arguments: Passed as they are; no shell reads them.
    /// - Returns: Its standard output and standard error.
    /// - Throws: `BenchError.toolFailed` with its output.
    static func run(_ program: String, _ arguments: [String]) async throws -> String {
        let outcome = try await outcome(program, arguments)
        guard outcome.isSuccess else {
            let command = ([program] + arguments).joined(separator: " ")
            throw BenchError.toolFailed(command: command, output: outcome.output)
        }
        return outcome.output
    }

    /// A program's output, or "unknown" if it fails.
    static func say(_ program: String, _ arguments: [String]) async -> String {
        let output = (try? await outcome(program, arguments))?.output
        return output?.split(separator: "\n").first.map(String.init) ?? "unknown"
    }

    /// `PATH` and the given variables.
    ///
    /// Others, such as `PGPORT` or `DATABASE_POOL_SIZE`, must not change a measurement.
    static func variables(_ added: [String: String] = [:]) -> [String: String] {
        added.merging(["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]) { $1 }
    }

    private static var environment: Environment {
        .custom(Dictionary(uniqueKeysWithValues: variables().map { (Environment.Key(stringLiteral: $0), $1) }))
    }

    /// A session of its own: a terminal's Ctrl-C ends this process, which then ends the others.
    private static var platformOptions: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(1))]
        return options
    }

    private static func outcome(
        _ program: String,
        _ arguments: [String]
    ) async throws -> (isSuccess: Bool, output: String) {
        let result = try await Subprocess.run(
            program.hasPrefix("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(arguments),
            environment: environment,
            platformOptions: platformOptions,
            input: .none,
            output: .string(limit: maxOutputBytes),
            error: .combinedWithOutput
        )
        // A tool that is ended early reports its measurement as if they were complete.
        try Task.checkCancellation()
        return (result.terminationStatus.isSuccess, result.standardOutput)
    }
}
