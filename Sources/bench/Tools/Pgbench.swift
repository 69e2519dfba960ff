import EmbeddedPostgres
import Foundation
import Postgres
import SelfieCore

/// The database's own load generator.
///
/// It runs the service's statement for lists.
struct Pgbench: Sendable {
    let databaseURL: String
    private let program: String
    private let script: URL

    /// Writes the script into a folder.
    init(databaseURL: String, folder: URL) throws {
        guard let program = ProgramSearch.system.program(named: "pgbench") else { throw BenchError.missing("pgbench") }
        self.databaseURL = databaseURL
        self.program = program
        script = folder.appending(path: "list.sql")
        try Self.script.write(to: script, atomically: true, encoding: .utf8)
    }

    /// Keeps a number of connections busy, each statement prepared once.
    ///
    /// - Parameters:
    ///   - connections: How many statements are under way at any time.
    ///   - seconds: For how long.
    /// - Returns: Its figures.
    /// - Throws: `BenchError` with pgbench's output.
    func run(connections: Int, seconds: Int) async throws -> DatabaseFigures {
        let options = ["-M", "prepared", "-n", "-c", "\(connections)", "-j", "2", "-T", "\(seconds)"]
        return try PgbenchOutput.figures(try await Tool.run(program, options + ["-f", script.path, databaseURL]))
    }

    /// The service's statement.
    ///
    /// It computes the digest in SQL, because pgbench's variables are text.
    static var script: String {
        let sql = PhotoStore.listQuery(tokenDigest: []).sql
        return """
            \\set n random(1, \(BenchData.userCount))
            \(sql.replacing("$1", with: "sha256(convert_to('token-' || :n, 'UTF8'))"));

            """
    }
}
