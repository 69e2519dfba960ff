import Foundation
import Subprocess
import SystemPackage

/// A server in a process of its own, listening on a free port of this machine.
struct ServerProcess: Sendable {
    let processID: Int32
    let port: Int

    var origin: String { "http://127.0.0.1:\(port)" }

    private static let startTimeout: Duration = .seconds(30)
    private static let stopTimeout: Duration = .seconds(10)

    /// Starts a server, waits until it says where it listens, runs `body`, and ends the server.
    ///
    /// - Parameters:
    ///   - program: What the server is called.
    ///   - path: Where the program is; nil for the one of that name beside this one.
    ///   - arguments: They must make it listen on a free port.
    ///   - environment: All of its environment but `PATH`.
    ///   - folder: Its working directory; what it prints goes to a file there.
    ///   - findPort: Finds in what it prints where it listens; nil while it does not say so.
    ///   - body: Uses the server.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, `BenchError.didNotStart` or, when the server ended before it was told to, `.serverEnded`.
    static func with<Result: Sendable>(
        _ program: String,
        path: String? = nil,
        _ arguments: [String],
        environment: [String: String] = [:],
        in folder: URL,
        findPort: (String) -> Int? = announcedPort,
        _ body: (ServerProcess) async throws -> Result
    ) async throws -> Result {
        let log = folder.appending(path: "\(program)-\(UUID().uuidString).log")
        let output = try FileDescriptor.open(
            FilePath(log.path),
            .writeOnly,
            options: [.create, .truncate],
            permissions: .ownerReadWrite
        )
        let outcome = try await Subprocess.run(
            .path(FilePath(try path ?? Tool.ownFolder.appending(path: program).path)),
            arguments: Arguments(arguments),
            environment: Tool.environment(environment),
            workingDirectory: FilePath(folder.path),
            platformOptions: Tool.platformOptions(stopTimeout: stopTimeout),
            input: .none,
            output: .fileDescriptor(output, closeAfterSpawningProcess: true),
            error: .combinedWithOutput
        ) { execution in
            let processID = execution.processIdentifier.value
            let result: Result
            do {
                let port = try await port(in: log, of: processID, findPort)
                result = try await body(ServerProcess(processID: processID, port: port))
            } catch  where !isRunning(processID) {
                // Whatever failed, failed for this.
                try Task.checkCancellation()
                throw BenchError.serverEnded(program: program, output: tail(of: log))
            }
            await execution.teardown(using: [.gracefulShutDown(allowedDurationToNextStep: stopTimeout)])
            return result
        }
        return outcome.takeClosureResult()
    }

    /// What this project's own servers print.
    private static func announcedPort(_ log: String) -> Int? {
        log.firstMatch(of: /listening on 127\.0\.0\.1:([0-9]+)/).flatMap { Int($0.1) }
    }

    private static func port(
        in log: URL,
        of processID: Int32,
        _ findPort: (String) -> Int?
    ) async throws -> Int {
        let deadline = ContinuousClock.now + startTimeout
        while ContinuousClock.now < deadline, isRunning(processID) {
            if let port = findPort(try String(contentsOf: log, encoding: .utf8)) { return port }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw BenchError.didNotStart(output: tail(of: log))
    }

    /// Whether a child has not ended; one that has is a zombie for as long as it is ours to wait for.
    private static func isRunning(_ processID: Int32) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        return status.map { !$0.contains("\nState:\tZ") } ?? false
    }

    /// The last lines of a log, which may have a line for each request.
    private static func tail(of log: URL) -> String {
        guard let file = try? FileHandle(forReadingFrom: log), let end = try? file.seekToEnd() else { return "" }
        defer { try? file.close() }
        try? file.seek(toOffset: end - min(end, 2048))
        let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(10).joined(separator: "\n")
    }
}
