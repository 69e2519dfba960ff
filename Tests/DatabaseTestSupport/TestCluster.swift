import EmbeddedPostgres
import Foundation
package import Migrations
package import Postgres
import ProcessTestSupport
import ServerProcesses

/// The PostgreSQL cluster that all tests of a run share; each test takes a database of its own from it.
package actor TestCluster {
    private static let shared = TestCluster()

    /// The project's own migrations.
    package static func migrations() throws -> [Migration] { try loadedMigrations.get() }

    private static let loadedMigrations = Result { try MigrationDirectory(path: ProjectFolder.migrations.path).load() }

    private var start: Task<Server, any Error>?

    private struct Server: Sendable {
        let url: String
        /// For making and dropping databases.
        let client: PostgresClient
        /// Since PostgreSQL 15, a template is copied page by page through the log unless this is asked for, which takes twice
        /// as long.
        let copiesFiles: String

        /// Runs one statement whose text is made of names that are this file's own.
        func administer(_ statement: String) async throws {
            _ = try await client.withConnection { try await $0.query(PostgresQuery(stringLiteral: statement)) }
        }
    }

    /// Runs a body with a new database that has every migration, and drops it afterwards.
    ///
    /// - Parameter body: Gets the database's URL.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    package static func withDatabase<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        try await withDatabase(template: "selfie_template", body)
    }

    /// Runs a body with a new database that has no table, and drops it afterwards.
    ///
    /// - Parameter body: Gets the database's URL.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    package static func withEmptyDatabase<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        try await withDatabase(template: "template1", body)
    }

    /// Runs a body with a copy of a database, and drops it afterwards.
    ///
    /// All connections of the database are ended meanwhile.
    ///
    /// - Parameters:
    ///   - databaseURL: The database.
    ///   - body: Gets the copy's URL.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    package static func withCopy<Result>(
        of databaseURL: String,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let (server, name) = (try await shared.server(), databaseURL.databaseName)
        let copy = "\(name)_copy"
        try await server.administer("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
        try await server.administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        try await server.administer("CREATE DATABASE \(copy) TEMPLATE \(name)")
        try await server.administer("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
        // The first copy is unused, so another copy of it is the same.
        return try await withDatabase(template: copy) { url in
            try await server.administer("DROP DATABASE \(copy)")
            return try await body(url)
        }
    }

    /// The URL of a database for statements that leave nothing behind, the same for all tests of a run.
    ///
    /// - Returns: The URL.
    /// - Throws: What keeps the cluster from starting.
    package static func scratchDatabase() async throws -> String { try await shared.server().url }

    /// Runs a body with a client of a database.
    package static func withClient<Result>(
        _ databaseURL: String,
        _ body: (PostgresClient) async throws -> Result
    ) async throws -> Result {
        try await PostgresClient.withClient(configuration: .patient(url: databaseURL, maxConnections: 2), body)
    }

    private static func withDatabase<Result>(
        template: String,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let server = try await shared.server()
        let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
        try await server.administer("CREATE DATABASE \(name) TEMPLATE \(template)\(server.copiesFiles)")
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(server.url.replacingDatabase(with: name)))
        } catch {
            result = .failure(error)
        }
        // It waits for a checkpoint, and no test needs to.
        Task { try await server.administer("DROP DATABASE \(name) WITH (FORCE)") }
        return try result.get()
    }

    private func server() async throws -> Server {
        let start = start ?? Task { try await Self.startServer() }
        self.start = start
        return try await start.value
    }

    /// The server ends with the run's folder.
    private static func startServer() async throws -> Server {
        let directory = try RunFolder.url.appending(path: "shared")
        try await PristineCluster.copy(to: directory)
        let cluster = EmbeddedPostgres(
            directory: directory.path,
            name: "selfie",
            settings: [
                "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off",
                "max_connections": TestPooler.isOn ? "\(TestPooler.serverSessions)" : "300",
                "autovacuum": "off",
                // Each process of the server maps them, and most tests have several and use few.
                "shared_buffers": "16MB",
            ]
        )
        let url = try await cluster.start()
        var configuration = try PostgresConfiguration.direct(url: url)
        configuration.statementTimeout = .seconds(60)
        let client = PostgresClient(configuration: configuration)
        let isAtLeast15 = try await client.read("SELECT current_setting('server_version_num')::int >= 150000 AS is")
            .first?.decode("is", as: Bool.self)
        let server = Server(url: url, client: client, copiesFiles: isAtLeast15 == true ? " STRATEGY FILE_COPY" : "")
        try await server.administer("CREATE DATABASE selfie_template")
        let template = try PostgresConfiguration.direct(url: url.replacingDatabase(with: "selfie_template"))
        _ = try await Migrator(configuration: template, migrations: try migrations(), lock: 1).up()
        try await TestPooler.begin(before: url)
        return server
    }
}

extension String {
    /// The last part of a connection URL's path.
    fileprivate var databaseName: String { String(prefix { $0 != "?" }.split(separator: "/").last ?? "") }

    /// A connection URL with another database's name.
    fileprivate func replacingDatabase(with name: String) -> String {
        prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/\(name)"
    }
}
