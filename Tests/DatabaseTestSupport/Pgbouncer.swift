import Foundation
import Postgres
import ServerProcesses

/// PgBouncer in transaction mode before a server of the tests: each transaction of a client may run in another session.
package struct Pgbouncer: Sendable {
    /// A URL of the pooler, up to the name of the database.
    let url: String
    private let process: ServerProcess

    /// Runs a body with a pooler before a database.
    ///
    /// - Parameters:
    ///   - databaseURL: The database.
    ///   - sessions: How many sessions it shares out.
    ///   - body: Gets the database's URL by way of the pooler.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the pooler from starting.
    package static func with<Result>(
        _ databaseURL: String,
        sessions: Int,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let pooler = try await start(before: databaseURL, sessions: sessions)
        defer { pooler.stop() }
        return try await body(pooler.url + (try PostgresConfiguration(url: databaseURL).options["dbname"] ?? ""))
    }

    /// Starts a pooler before all databases of a server.
    ///
    /// - Parameters:
    ///   - serverURL: The URL of any database of the server.
    ///   - sessions: How many sessions of each database it shares out.
    /// - Returns: The pooler; ``stop()`` it.
    /// - Throws: What keeps it from starting.
    static func start(before serverURL: String, sessions: Int) async throws -> Pgbouncer {
        let options = try PostgresConfiguration(url: serverURL).options
        let server = ["host", "port", "user"].compactMap { key in options[key].map { "\(key)=\($0)" } }
        let process = try ServerProcess("pgbouncer")
        let port = ServerProcess.anyPort()
        // Each transaction gets the session that was unused for longest. After a failure, the server is asked again soon.
        let settings = """
            [databases]
            * = \(server.joined(separator: " "))
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(sessions)
            server_round_robin = 1
            server_login_retry = 0.1
            max_client_conn = 2000
            log_connections = 0
            log_disconnections = 0
            """
        do {
            let file = process.folder.appending(path: "pgbouncer.ini")
            try settings.write(to: file, atomically: true, encoding: .utf8)
            // It refuses to run as root, and Debian makes this user along with PostgreSQL.
            let account = getuid() == 0 ? ["-u", "postgres"] : []
            _ = try await process.launch([Self.program()] + account + [file.path]) { output in
                output.contains("process up") ? true : nil
            }
        } catch {
            process.stop()
            throw error
        }
        return Pgbouncer(url: "postgresql://\(options["user"] ?? "postgres")@127.0.0.1:\(port)/", process: process)
    }

    func stop() { process.stop() }

    private static func program() -> String {
        let paths = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
        return paths.first(where: FileManager.default.isExecutableFile) ?? "pgbouncer"
    }
}
