import Algorithms
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// Runs programs as the cluster's user, away from the terminal, and collects their output.
struct Command: Sendable {
    /// How a program ended.
    struct Outcome: Sendable {
        let isSuccess: Bool

        /// Standard output and standard error in the order written, without line ends around them.
        let output: String
    }

    let user: ClusterUser

    private static let maxOutputBytes = 256 * 1024

    /// Runs a program to its end, with an empty standard input.
    ///
    /// - Parameters:
    ///   - program: An absolute path, or a name that is found in the system's own folders.
    ///   - arguments: Passed as they are; no shell reads them.
    ///   - directory: The working directory. The caller's own may be closed to the cluster's user.
    /// - Returns: Its output, and whether its exit code was 0.
    /// - Throws: `couldNotRun` when it could not be started, or printed more than 256 KiB.
    func run(
        _ program: String,
        _ arguments: [String],
        in directory: String = "/"
    ) async throws(EmbeddedPostgresError) -> Outcome {
        do {
            let line = asUser + [program] + arguments
            let result = try await Subprocess.run(
                line[0].hasPrefix("/") ? .path(FilePath(line[0])) : .name(line[0]),
                arguments: Arguments(Array(line.dropFirst())),
                environment: .custom(Self.environment),
                workingDirectory: FilePath(directory),
                platformOptions: platformOptions,
                input: .none,
                output: .string(limit: Self.maxOutputBytes),
                error: .combinedWithOutput
            )
            return Outcome(
                isSuccess: result.terminationStatus.isSuccess,
                output: String(result.standardOutput.trimming(while: \.isNewline))
            )
        } catch {
            throw .couldNotRun(command: ([program] + arguments).joined(separator: " "), cause: error)
        }
    }

    /// Runs a program that must succeed.
    ///
    /// Everything else is as with ``run(_:_:in:)``.
    ///
    /// - Parameters:
    ///   - program: An absolute path, or a name that is found in the system's own folders.
    ///   - arguments: Passed as they are; no shell reads them.
    ///   - directory: The working directory.
    /// - Returns: Its output.
    /// - Throws: `commandFailed` when its exit code is not 0, or `couldNotRun`.
    @discardableResult
    func succeed(
        _ program: String,
        _ arguments: [String],
        in directory: String = "/"
    ) async throws(EmbeddedPostgresError) -> String {
        let outcome = try await run(program, arguments, in: directory)
        guard outcome.isSuccess else {
            throw .commandFailed(command: ([program] + arguments).joined(separator: " "), output: outcome.output)
        }
        return outcome.output
    }

    /// Whether the cluster's user can enter a folder.
    ///
    /// That needs the permission of every parent, too.
    func canEnter(_ directory: String) async throws(EmbeddedPostgresError) -> Bool {
        guard user.isAnother else { return true }
        return try await run("test", ["-x", directory]).isSuccess
    }

    /// The caller's variables are left out: `PGDATA`, `PGPORT` and others would redirect the programs.
    private static var environment: [Environment.Key: String] {
        [
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "HOME": "/",
            "PGCONNECT_TIMEOUT": "10",
        ]
    }

    /// A session of its own: the terminal's Ctrl-C goes to our process group.
    ///
    /// The server must outlive it until the requests that need it are answered.
    private var platformOptions: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        return options
    }

    /// The words before the program that run it as the cluster's user.
    ///
    /// `setpriv` becomes the program, in the same process.
    ///
    /// `PlatformOptions.userID` can't be used on Linux: with it, swift-subprocess 1.0.2 calls glibc's `setuid` after a
    /// bare `clone3`. That waits for ever if another thread was just being made: the child knows of that thread but
    /// does not have it.
    private var asUser: [String] {
        guard user.isAnother else { return [] }
        return ["setpriv", "--reuid=\(user.userID)", "--regid=\(user.groupID)", "--clear-groups", "--"]
    }
}
