import EmbeddedPostgres
package import Foundation
import Migrations
import Postgres
import ProcessTestSupport
import ServerProcesses

/// A PostgreSQL server of a test's own, which it may kill, stop and start.
package struct OwnCluster: Sendable {
    /// The database's URL, the same after every start.
    package let url: String

    private let server: EmbeddedPostgres
    private let folder: URL

    /// Runs a body with a migrated database; afterwards no server and no file is left.
    package static func use(_ body: (OwnCluster) async throws -> Void) async throws {
        let folder = try RunFolder.url.appending(path: "own-\(UUID().uuidString.prefix(8))")
        try await PristineCluster.copy(to: folder)
        let server = EmbeddedPostgres(directory: folder.path, name: "selfie", settings: ["fsync": "off"])
        let result: Result<Void, any Error>
        do {
            let cluster = OwnCluster(url: try await server.start(), server: server, folder: folder)
            let configuration = try PostgresConfiguration(url: cluster.url)
            let migrations = try TestCluster.migrations()
            _ = try await Migrator(configuration: configuration, migrations: migrations, lock: 1).up()
            try await TestPooler.begin(before: cluster.url)
            defer { TestPooler.end(before: cluster.url) }
            result = .success(try await body(cluster))
            cluster.resume()
        } catch {
            result = .failure(error)
        }
        try await server.stop()
        try FileManager.default.removeItem(at: folder)
        try result.get()
    }

    /// Its processes.
    private var processes: PostgresProcesses { PostgresProcesses(folder: folder) }

    /// Ends the server and all of its sessions at once, as a crash would.
    package func kill() async throws { try await processes.kill() }

    /// Ends the server and all of its sessions with SIGKILL, as a machine does that runs out of memory.
    package func killHard() async throws { try await processes.killHard() }

    /// The processor time that the server has used since it was started.
    package func processorTime() throws -> Duration { try processes.processorTime() }

    /// Starts the server after `kill`.
    package func start() async throws {
        _ = try await server.start()
    }

    /// Copies the folder of a server that is down.
    package func backUp(to copy: URL) async throws {
        try await FolderCopy.make(of: folder.appending(path: "data"), at: copy)
    }

    /// Puts a copy in place of the folder of a server that is down.
    package func restore(from copy: URL) async throws {
        let data = folder.appending(path: "data")
        try FileManager.default.removeItem(at: data)
        try await FolderCopy.make(of: copy, at: data)
    }

    /// Halts the server and its sessions: connections are taken, and nothing is answered.
    package func suspend() async throws { try await processes.suspend() }

    /// Lets a halted server run on.
    package func resume() { processes.resume() }

    /// Runs a body with a standby that replicates this server, beginning from a copy of its folder.
    ///
    /// - Parameters:
    ///   - delay: How long after its commit the standby replays a transaction.
    ///   - body: Gets the standby.
    /// - Throws: What the body throws, or `EmbeddedPostgresError`.
    package func withStandby(delayedBy delay: Duration = .zero, _ body: (Standby) async throws -> Void) async throws {
        let copy = folder.deletingLastPathComponent().appending(path: "standby-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        try await server.stop()
        try await FolderCopy.make(of: folder.appending(path: "data"), at: copy.appending(path: "data"))
        try await start()
        try Data().write(to: copy.appending(path: "data/standby.signal"))
        let options = try PostgresConfiguration(url: url).options
        let source = ["host", "port", "user"].compactMap { key in options[key].map { "\(key)=\($0)" } }
        let settings = [
            "fsync": "off", "primary_conninfo": source.joined(separator: " ") + " application_name=standby",
            "recovery_min_apply_delay": "\(Int(delay / .milliseconds(1)))ms", "hot_standby_feedback": "on",
        ]
        let standby = EmbeddedPostgres(directory: copy.path, name: "selfie", settings: settings)
        let result: Result<Void, any Error>
        do {
            let url = try await standby.start()
            try await TestPooler.begin(before: url)
            let processes = PostgresProcesses(folder: copy)
            defer {
                processes.resume()
                TestPooler.end(before: url)
            }
            result = .success(try await body(Standby(url: url, server: standby, processes: processes)))
        } catch {
            result = .failure(error)
        }
        try await standby.stop()
        try FileManager.default.removeItem(at: copy)
        try result.get()
    }

    /// Sets a parameter for all sessions of the server.
    package func set(_ name: String, _ value: String) async throws {
        try await PostgresClient.withClient(configuration: PostgresConfiguration(url: url)) { postgres in
            try await postgres.write("ALTER SYSTEM SET \(part: PostgresQuery(stringLiteral: "\(name) = '\(value)'"))")
            _ = try await postgres.read("SELECT pg_reload_conf()")
        }
    }
}

/// A server that replicates an ``OwnCluster``.
package struct Standby: Sendable {
    /// The database's URL.
    package let url: String
    fileprivate let server: EmbeddedPostgres
    fileprivate let processes: PostgresProcesses

    /// Makes it a primary.
    package func promote() async throws {
        try await PostgresClient.withClient(configuration: PostgresConfiguration(url: url)) { postgres in
            let isPromoted: Bool = try await postgres.read("SELECT pg_promote() AS done")[0].decode("done")
            guard isPromoted else { throw NotInTime(what: "the promotion") }
        }
    }

    /// Waits until it has replayed all that the primary has committed.
    package func catchUp(with primary: OwnCluster) async throws {
        let end: String = try await PostgresClient.withClient(configuration: PostgresConfiguration(url: primary.url)) {
            try await $0.read("SELECT pg_current_wal_lsn()::text AS lsn")[0].decode("lsn")
        }
        try await PostgresClient.withClient(configuration: PostgresConfiguration(url: url)) { postgres in
            try await poll("the standby has caught up") {
                try await postgres.read("SELECT pg_last_wal_replay_lsn() >= \(end)::pg_lsn AS done")[0].decode("done")
            }
        }
    }

    /// Replays nothing until ``resumeReplay()``.
    package func pauseReplay() async throws {
        try await run("SELECT pg_wal_replay_pause()")
        // That has only asked for it, and the standby may still replay what comes now.
        try await PostgresClient.withClient(configuration: PostgresConfiguration(url: url)) { postgres in
            try await poll("replay is paused") {
                try await postgres.read("SELECT pg_get_wal_replay_pause_state() = 'paused' AS done")[0].decode("done")
            }
        }
    }

    package func resumeReplay() async throws { try await run("SELECT pg_wal_replay_resume()") }

    private func run(_ query: PostgresQuery) async throws {
        try await PostgresClient.withClient(configuration: PostgresConfiguration(url: url)) {
            _ = try await $0.read(query)
        }
    }

    package func stop() async throws { try await server.stop() }

    /// Starts it after ``stop()`` or ``killHard()``.
    package func start() async throws { _ = try await server.start() }

    /// Ends it and all of its sessions with SIGKILL, as a machine does that runs out of memory.
    package func killHard() async throws { try await processes.killHard() }

    /// Halts it and its sessions: connections are taken, and nothing is answered.
    package func suspend() async throws { try await processes.suspend() }

    /// Lets it run on.
    package func resume() { processes.resume() }
}
