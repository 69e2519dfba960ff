import Foundation
import Postgres
import ServerProcesses

/// The hosts that `bin/cluster` runs, as `bin/soak cluster` names them in the environment.
struct Cluster: Sendable {
    /// Whether there is one.
    static var isThere: Bool { ProcessInfo.processInfo.environment["SELFIE_CLUSTER"] != nil }

    /// The program to upgrade to; nil where nothing is to be upgraded.
    static var nextProgram: String? { ProcessInfo.processInfo.environment["SELFIE_NEXT_PROGRAM"] }

    static let databases = ["db1", "db2", "db3"]
    static let edges = ["edge1", "edge2"]

    /// How long hosts are lost.
    let duration: Duration
    /// Straight to the primary, whichever host it is.
    let databaseURL: String
    private let secrets: [String: String]

    /// Reads the environment.
    ///
    /// - Throws: An error of Foundation's.
    init() throws {
        let environment = ProcessInfo.processInfo.environment
        duration = .seconds(environment["SELFIE_CLUSTER_SECONDS"].flatMap { Int($0) } ?? 3600)
        let file = "\(environment["SELFIE_CLUSTER"] ?? "")/secrets"
        var secrets: [String: String] = [:]
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map { String($0) }
            if parts.count == 2 { secrets[parts[0]] = parts[1] }
        }
        self.secrets = secrets
        let hosts = Self.databases.joined(separator: ",")
        let password = secrets["password of selfie"] ?? ""
        databaseURL =
            "postgresql://selfie:\(password)@\(hosts)/selfie?target_session_attrs=read-write&connect_timeout=2"
    }

    /// Runs `bin/cluster`.
    ///
    /// - Returns: Its output, and whether it succeeded.
    /// - Throws: An error of Foundation's.
    @discardableResult
    func command(_ arguments: [String]) async throws -> (output: String, isSuccess: Bool) {
        try await run([ProjectFolder.root.appending(path: "bin/cluster").path] + arguments)
    }

    /// Inserts a row at a host's own server, whether others reach that or not.
    ///
    /// - Returns: Whether it was committed.
    /// - Throws: An error of Foundation's.
    func insert(_ statement: String, at host: String) async throws -> Bool {
        let server = "host=127.0.0.1 user=selfie dbname=selfie connect_timeout=1"
        let psql = ["timeout", "--signal=KILL", "4", "psql", "--quiet", "--no-psqlrc", server, "-c", statement]
        return try await run(
            ["ip", "netns", "exec", "selfie-\(host)"] + psql,
            environment: ["PGPASSWORD": secrets["password of selfie"] ?? ""]
        ).isSuccess
    }

    private func run(
        _ command: [String],
        environment: [String: String] = [:]
    ) async throws -> (output: String, isSuccess: Bool) {
        let process = Process()
        let output = FileManager.default.temporaryDirectory.appending(path: "cluster-\(UUID().uuidString)")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let file = try FileHandle(forWritingTo: output)
        defer { try? file.close() }
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = file
        process.standardError = file
        await withCheckedContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume() }
        }
        let text = try String(contentsOf: output, encoding: .utf8)
        return (text, process.terminationStatus == 0)
    }
}
