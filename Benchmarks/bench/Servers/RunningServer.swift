import Foundation
import ServerProcesses

/// A server that listens on a port of this machine while it is measured.
struct RunningServer: Sendable {
    let processID: Int32
    let port: Int

    var origin: String { "http://127.0.0.1:\(port)" }

    private static let stopTimeout: Duration = .seconds(10)

    /// Starts a server, waits until it prints its port, runs `body`, and ends the server.
    ///
    /// - Parameters:
    ///   - program: The server's name.
    ///   - path: The program's path; nil for the program of that name beside this one.
    ///   - arguments: They must make it listen on a free port.
    ///   - environment: All of its environment but `PATH`.
    ///   - findPort: Finds the port in the server's output; nil if it is not there yet.
    ///   - body: Uses the server.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, `ServerProcessError`, or `BenchError.serverEnded` when the server ended by itself.
    static func with<Result: Sendable>(
        _ program: String,
        path: String? = nil,
        _ arguments: [String],
        environment: [String: String] = [:],
        findPort: (String) -> Int? = announcedPort,
        _ body: (RunningServer) async throws -> Result
    ) async throws -> Result {
        let process = try ServerProcess("selfie-bench-\(program)")
        defer { process.stop() }
        let port = try await process.launch(
            [try path ?? Tool.ownFolder.appending(path: program).path] + arguments,
            environment: Tool.variables(environment),
            until: findPort
        )
        guard let processID = process.processID else { throw CancellationError() }
        let result: Result
        do {
            result = try await body(RunningServer(processID: processID, port: port))
        } catch {
            // The server ended, and that is the cause of every other failure.
            if !process.isRunning, !Task.isCancelled {
                throw BenchError.serverEnded(program: program, output: process.logTail)
            }
            await process.end(within: stopTimeout)
            throw error
        }
        await process.end(within: stopTimeout)
        return result
    }

    /// The port in the output of this project's own servers.
    private static func announcedPort(_ log: String) -> Int? {
        log.firstMatch(of: /listening on 127\.0\.0\.1:([0-9]+)/).flatMap { Int($0.1) }
    }
}
