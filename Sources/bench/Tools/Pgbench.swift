import EmbeddedPostgres
import Foundation
import Postgres

/// The database's own load generator.
///
/// It runs the statement with which version 0.10 listed photos: it reads all rows each time. So the ratio to it tells what
/// lists by version gain.
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

    /// It computes the digest in SQL, because pgbench's variables are text.
    static var script: String {
        """
        \\set n random(1, \(BenchData.userCount))
        SELECT sessions.id AS session_id, expires_at, name, title, random_id
        FROM sessions LEFT JOIN photos ON photos.user_id = sessions.user_id AND state = 'ready'
        WHERE token_digest = sha256(convert_to('token-' || :n, 'UTF8')) ORDER BY photos.id;

        """
    }
}
