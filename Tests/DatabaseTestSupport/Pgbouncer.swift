import Foundation
import Postgres
import ServerProcesses

/// PgBouncer in transaction mode before the cluster of the tests: each transaction of a client may run in another session.
package enum Pgbouncer {
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
        let options = try PostgresConfiguration(url: databaseURL).options
        let (database, user) = (options["dbname"] ?? "", options["user"] ?? "postgres")
        let server = ["host", "port", "user"].compactMap { key in options[key].map { "\(key)=\($0)" } }
        let process = try ServerProcess("pgbouncer")
        defer { process.stop() }
        let port = ServerProcess.anyPort()
        let settings = """
            [databases]
            \(database) = dbname=\(database) \(server.joined(separator: " "))
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(sessions)
            max_client_conn = 200
            """
        let file = process.folder.appending(path: "pgbouncer.ini")
        try settings.write(to: file, atomically: true, encoding: .utf8)
        // It refuses to run as root, and Debian makes this user along with PostgreSQL.
        let account = getuid() == 0 ? ["-u", "postgres"] : []
        _ = try await process.launch([Self.program()] + account + [file.path]) { output in
            output.contains("process up") ? true : nil
        }
        return try await body("postgresql://\(user)@127.0.0.1:\(port)/\(database)")
    }

    private static func program() -> String {
        let paths = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
        return paths.first(where: FileManager.default.isExecutableFile) ?? "pgbouncer"
    }
}
