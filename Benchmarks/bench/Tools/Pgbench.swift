import EmbeddedPostgres
import Foundation
import Postgres

/// The database's own load generator.
struct Pgbench: Sendable {
    /// What it does again and again.
    enum Load: String, CaseIterable {
        /// The statement with which version 0.10 listed photos: it reads all rows each time.
        ///
        /// So the ratio to it shows what lists by version gain.
        case list
        /// The statements with which the service creates a record with two readers.
        case recordCreation
    }

    let databaseURL: String
    private let program: String
    private let folder: URL

    /// Writes the scripts into a folder.
    init(databaseURL: String, folder: URL) throws {
        guard let program = ProgramSearch.system.program(named: "pgbench") else { throw BenchError.missing("pgbench") }
        self.databaseURL = databaseURL
        self.program = program
        self.folder = folder
        for load in Load.allCases {
            try load.script.write(to: Self.file(of: load, in: folder), atomically: true, encoding: .utf8)
        }
    }

    /// Keeps a number of connections busy, each statement prepared once.
    ///
    /// - Parameters:
    ///   - load: The statements.
    ///   - connections: How many statements are under way at any time.
    ///   - seconds: For how long.
    /// - Returns: Its measurement.
    /// - Throws: `BenchError` with pgbench's output.
    func run(_ load: Load, connections: Int, seconds: Int) async throws -> DatabaseMeasurement {
        let options = ["-M", "prepared", "-n", "-c", "\(connections)", "-j", "2", "-T", "\(seconds)"]
        return try PgbenchOutput.measurement(
            try await Tool.run(program, options + ["-f", Self.file(of: load, in: folder).path, databaseURL])
        )
    }

    private static func file(of load: Load, in folder: URL) -> URL {
        folder.appending(path: "\(load).sql")
    }
}
