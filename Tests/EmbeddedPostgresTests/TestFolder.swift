import DatabaseTestSupport
import Foundation
import ServerProcesses
import Testing

@testable import EmbeddedPostgres

/// A folder of a test's own, short enough for sockets and open to the user that runs PostgreSQL.
struct TestFolder: Sendable {
    let path: String

    /// The usual place of the cluster in it.
    var cluster: String { path + "/cluster" }

    /// Stands in for `/var/tmp`.
    var temporary: String { path + "/t" }

    func handle(
        directory: String? = nil,
        settings: [String: String] = [:],
        search: ProgramSearch = .system,
        maxLingeringSessions: Duration = .seconds(600),
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) -> EmbeddedPostgres {
        EmbeddedPostgres(
            directory: directory ?? cluster,
            name: "selfie",
            settings: ["fsync": "off"].merging(settings) { $1 },
            search: search,
            temporaryDirectory: temporary,
            maxLingeringSessions: maxLingeringSessions,
            notice: notice
        )
    }

    /// The number of the server's process, as its data folder has it.
    func postmaster(home: String? = nil) throws -> pid_t {
        guard case .claimed(let processID) = DataFolder(home: home ?? cluster).postmaster else {
            throw TestFailure(what: "no postmaster.pid")
        }
        return processID
    }

    /// Runs `body` in a new folder that has a cluster's data in the usual place, as `initdb` would make it.
    static func useWithData(_ body: (TestFolder) async throws -> Void) async throws {
        try await use { folder in
            try await folder.putData(at: folder.cluster)
            try await body(folder)
        }
    }

    /// Puts a cluster's data somewhere.
    ///
    /// - Parameter path: The cluster's folder, made with its parents; there must be none.
    /// - Throws: `EmbeddedPostgresError`, an error of Foundation's, or `ServerProcessError`.
    func putData(at path: String) async throws {
        let url = URL(filePath: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try await PristineCluster.copy(to: url)
    }

    /// Runs `body` in a new folder; afterwards no server of it runs and no file of it is left.
    static func use(_ body: (TestFolder) async throws -> Void) async throws {
        var template = Array("/tmp/ep-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw TestFailure(what: "mkdtemp") }
        let folder = TestFolder(path: String(cString: made))
        chmod(folder.path, 0o755)
        mkdir(folder.temporary, 0o755)
        chmod(folder.temporary, 0o1777)
        do {
            try await body(folder)
        } catch {
            try await folder.remove()
            throw error
        }
        try await folder.remove()
    }

    private func remove() async throws {
        let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix("/postmaster.pid") {
            let home = path + "/" + file.dropLast("/data/postmaster.pid".count)
            guard let processID = try? postmaster(home: home), kill(processID, SIGQUIT) == 0 else { continue }
            try await waitUntilGone(processID)
        }
        try FileManager.default.removeItem(atPath: path)
    }
}

struct TestFailure: Error {
    let what: String
}

/// The number that a program wrote into a file, once the line is whole.
func processNumber(in file: String) -> pid_t? {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8), text.hasSuffix("\n") else { return nil }
    return pid_t(text.dropLast())
}

/// What was said through `notice`.
actor Notices {
    private let stream: AsyncStream<String>
    nonisolated let add: @Sendable (String) -> Void
    private let finish: @Sendable () -> Void

    init() {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        self.stream = stream
        add = { continuation.yield($0) }
        finish = { continuation.finish() }
    }

    func all() async -> [String] {
        finish()
        return await stream.reduce(into: []) { $0.append($1) }
    }
}

/// Runs one statement with psql, as a user of the URL would.
func query(_ url: String, _ statement: String) async throws -> String {
    let user = try ClusterUser.current()
    let psql = try await PostgresBinaries.find(.system, majorVersion: nil, user: user).psql
    return try await Command(user: user).succeed(psql, ["-X", "-q", "-A", "-t", "-w", "-c", statement, url])
}

func isAlive(_ processID: pid_t) -> Bool { kill(processID, 0) == 0 || errno == EPERM }

func waitUntilGone(_ processID: pid_t) async throws {
    try await poll("process \(processID) ended") { !isAlive(processID) }
}
