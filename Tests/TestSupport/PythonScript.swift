import Foundation

/// The scripts of `Tests/Python`, run by the Python that `bin/test` installs for them.
package enum PythonScript {
    /// The executable's path and the script's.
    ///
    /// - Parameter name: the script's file name.
    /// - Returns: the command, without arguments.
    /// - Throws: `TestServerError` when there is no Python in `.venv`.
    package static func command(_ name: String) throws -> [String] {
        let python = TestCluster.packageRoot.appending(path: ".venv/bin/python3").path
        guard FileManager.default.isExecutableFile(atPath: python) else {
            throw TestServerError.missing("the tests' Python")
        }
        return [python, TestCluster.packageRoot.appending(path: "Tests/Python/\(name)").path]
    }

    /// Runs a script to its end.
    ///
    /// - Parameters:
    ///   - name: the script's file name.
    ///   - input: what it reads from standard input.
    /// - Returns: How it ended and what it printed.
    /// - Throws: `TestServerError` when there is no Python, or an error of Foundation's.
    package static func run(_ name: String, input: String) async throws -> ProgramOutcome {
        let command = try command(name)
        return try await ProgramOutcome.run(
            URL(filePath: command[0]),
            Array(command.dropFirst()),
            directory: TestCluster.packageRoot,
            input: input
        )
    }
}
