import Foundation
import ServerProcesses

/// The scripts of `Tests/Python`, run by the Python that `bin/test` installs for them.
package enum PythonScript {
    /// The executable's path and the script's.
    ///
    /// - Parameter name: the script's file name.
    /// - Returns: the command, without arguments.
    /// - Throws: `ServerProcessError` when there is no Python in `.venv`.
    package static func command(_ name: String) throws -> [String] {
        let python = ProjectFolder.root.appending(path: ".venv/bin/python3").path
        guard FileManager.default.isExecutableFile(atPath: python) else {
            throw ServerProcessError.missing("the tests' Python")
        }
        return [python, ProjectFolder.root.appending(path: "Tests/Python/\(name)").path]
    }

    /// Runs a script to its end.
    ///
    /// - Parameters:
    ///   - name: the script's file name.
    ///   - input: what it reads from standard input.
    /// - Returns: What it printed.
    /// - Throws: `ServerProcessError` when there is no Python or the script fails, or an error of Foundation's.
    package static func run(_ name: String, input: String) async throws -> String {
        let command = try command(name)
        let outcome = try await ProgramOutcome.run(
            URL(filePath: command[0]),
            Array(command.dropFirst()),
            directory: ProjectFolder.root,
            input: input
        )
        guard outcome.status == 0 else { throw ServerProcessError.failed(name, errors: outcome.errors) }
        return outcome.output
    }
}
