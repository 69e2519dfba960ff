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
        [try python, ProjectFolder.root.appending(path: "Tests/Python/\(name)").path]
    }

    /// Runs a script to its end.
    ///
    /// - Parameters:
    ///   - name: the script's file name.
    ///   - arguments: Passed as they are.
    ///   - input: what it reads from standard input.
    /// - Returns: What it printed.
    /// - Throws: `ServerProcessError` when there is no Python or the script fails, or an error of Foundation's.
    package static func run(_ name: String, _ arguments: [String] = [], input: String = "") async throws -> String {
        let outcome = try await run(try command(name) + arguments, input: input)
        guard outcome.status == 0 else {
            throw ServerProcessError.failed(name, errors: outcome.output + outcome.errors)
        }
        return outcome.output
    }

    /// Runs a module of a Python package to its end, in the project's folder.
    ///
    /// - Parameters:
    ///   - name: The module's name.
    ///   - arguments: Passed as they are.
    ///   - environment: All of its environment but what `ChildEnvironment` adds.
    ///   - patience: How long it may take.
    /// - Returns: How it ended and what it printed.
    /// - Throws: `ServerProcessError` when there is no Python, or an error of Foundation's.
    package static func runModule(
        _ name: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        patience: Duration = .seconds(600)
    ) async throws -> ProgramOutcome {
        try await run([try python, "-m", name] + arguments, environment: environment, patience: patience)
    }

    private static func run(
        _ command: [String],
        environment: [String: String] = [:],
        input: String = "",
        patience: Duration = .seconds(600)
    ) async throws -> ProgramOutcome {
        try await ProgramOutcome.run(
            URL(filePath: command[0]),
            Array(command.dropFirst()),
            environment: environment,
            directory: ProjectFolder.root,
            input: input,
            patience: patience
        )
    }

    private static var python: String {
        get throws {
            let python = ProjectFolder.root.appending(path: ".venv/bin/python3").path
            guard FileManager.default.isExecutableFile(atPath: python) else {
                throw ServerProcessError.missing("the tests' Python")
            }
            return python
        }
    }
}
