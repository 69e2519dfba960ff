import EmbeddedPostgres
import Foundation
import Migrations
import Postgres
import TestSupport

/// A PostgreSQL server of a test's own, which it may kill, stop and start.
struct OwnCluster: Sendable {
    /// The database's URL, the same after every start.
    let url: String

    private let server: EmbeddedPostgres
    private let folder: URL

    /// Runs a body with a migrated database; afterwards no server and no file is left.
    static func use(_ body: (OwnCluster) async throws -> Void) async throws {
        // Short enough for a socket's path, and open to the user that runs PostgreSQL in root's place.
        let folder = URL(filePath: "/tmp/oc-\(UUID().uuidString.prefix(8))")
        let temporary = folder.appending(path: "t")
        let everybody: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true, attributes: everybody)
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: temporary.path)
        let server = EmbeddedPostgres(
            directory: folder.appending(path: "c").path,
            settings: ["fsync": "off"],
            temporaryDirectory: temporary.path
        )
        let result: Result<Void, any Error>
        do {
            let cluster = OwnCluster(url: try await server.start(), server: server, folder: folder)
            let configuration = try PostgresConfiguration(url: cluster.url)
            _ = try await Migrator(configuration: configuration, migrations: try TestCluster.migrations()).up()
            result = .success(try await body(cluster))
            cluster.resume()
        } catch {
            result = .failure(error)
        }
        try await server.stop()
        try FileManager.default.removeItem(at: folder)
        try result.get()
    }

    /// Ends the server and all of its sessions at once, as a crash would.
    func kill() async throws {
        let postmaster = try processID()
        Foundation.kill(postmaster, SIGQUIT)
        try await poll("the server is gone") { Foundation.kill(postmaster, 0) != 0 }
    }

    /// Ends the server and all of its sessions with SIGKILL, as a machine does that runs out of memory.
    func killHard() async throws {
        let postmaster = try processID()
        let processes = try [postmaster] + Self.children(of: postmaster)
        for process in processes { Foundation.kill(process, SIGKILL) }
        try await poll("the server is gone") { processes.allSatisfy { Foundation.kill($0, 0) != 0 } }
    }

    /// Starts the server after `kill`.
    func start() async throws {
        _ = try await server.start()
    }

    /// Halts the server and its sessions: connections are taken, and nothing is answered.
    func suspend() throws {
        let postmaster = try processID()
        Foundation.kill(postmaster, SIGSTOP)
        for child in try Self.children(of: postmaster) { Foundation.kill(child, SIGSTOP) }
    }

    /// Lets a halted server run on.
    func resume() {
        guard let postmaster = try? processID() else { return }
        for child in (try? Self.children(of: postmaster)) ?? [] { Foundation.kill(child, SIGCONT) }
        Foundation.kill(postmaster, SIGCONT)
    }

    private func processID() throws -> pid_t {
        let file = folder.appending(path: "c/data/postmaster.pid")
        let line = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").first
        guard let processID = line.flatMap({ pid_t($0) }) else { throw NotInTime(what: "postmaster.pid") }
        return processID
    }

    private static func children(of parent: pid_t) throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name in
            guard
                let processID = pid_t(name),
                let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                // The name in parentheses may hold spaces; then come the state and the parent.
                let fields = text.split(separator: ")").last?.split(separator: " "),
                fields.count > 1, pid_t(fields[1]) == parent
            else { return nil }
            return processID
        }
    }
}
