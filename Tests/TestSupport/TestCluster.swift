import EmbeddedPostgres
package import Foundation
import Glibc
package import Migrations
import Postgres

/// The PostgreSQL cluster that all tests of a run share; each test takes a database of its own from it.
package actor TestCluster {
    package static let shared = TestCluster()

    /// Where the package's files are.
    package static let packageRoot = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The project's own migrations.
    package static func migrations() throws -> [Migration] {
        try MigrationDirectory(path: packageRoot.appending(path: "migrations").path).load()
    }

    private var start: Task<String, any Error>?

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

    private static func withDatabase<Result>(
        template: String,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let url = try await shared.url()
        let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
        try await administer("CREATE DATABASE \(name) TEMPLATE \(template)", url: url)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(url.replacingDatabase(with: name)))
        } catch {
            result = .failure(error)
        }
        try await administer("DROP DATABASE \(name) WITH (FORCE)", url: url)
        return try result.get()
    }

    private func url() async throws -> String {
        if start == nil { start = Task { try await Self.startCluster() } }
        return try await start?.value ?? ""
    }

    private static func startCluster() async throws -> String {
        let directory = packageRoot.appending(path: ".build/test-postgres").path
        let cluster = EmbeddedPostgres(
            directory: directory,
            settings: ["fsync": "off", "full_page_writes": "off", "max_connections": "300"]
        )
        let url = try await cluster.start()
        stopAtExit(try await administer("SHOW data_directory", url: url) ?? "")
        // What an earlier run left behind when it was killed.
        for name in try await testDatabases(url: url) {
            try await administer("DROP DATABASE \(name) WITH (FORCE)", url: url)
        }
        try await administer("CREATE DATABASE selfie_template", url: url)
        let configuration = try PostgresConfiguration.patient(url: url.replacingDatabase(with: "selfie_template"))
        _ = try await Migrator(configuration: configuration, migrations: try migrations()).up()
        return url
    }

    private static func testDatabases(url: String) async throws -> [String] {
        let rows = try await PostgresClient.withClient(configuration: .patient(url: url, connectionsMax: 1)) {
            try await $0.query(
                "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%' OR datname = 'selfie_template'"
            )
        }
        return try rows.map { try $0.decode("datname") }
    }

    /// Runs one statement whose text is made of names that are this file's own.
    @discardableResult
    private static func administer(_ statement: String, url: String) async throws -> String? {
        var configuration = try PostgresConfiguration.patient(url: url, connectionsMax: 1)
        configuration.statementTimeout = .seconds(60)
        return try await PostgresClient.withClient(configuration: configuration) { client in
            let rows = try await client.withConnection { try await $0.query(PostgresQuery(stringLiteral: statement)) }
            return try rows.first?.decode("data_directory")
        }
    }

    /// Ends the cluster with the test process, which has no other place to do so.
    private static func stopAtExit(_ dataDirectory: String) {
        let pidFile = dataDirectory + "/postmaster.pid"
        guard
            let contents = try? String(contentsOfFile: pidFile, encoding: .utf8),
            let processID = contents.split(separator: "\n").first.flatMap({ pid_t($0) })
        else { return }
        setenv("SELFIE_TEST_POSTMASTER", String(processID), 1)
        atexit {
            if let text = getenv("SELFIE_TEST_POSTMASTER"), let processID = pid_t(String(cString: text)) {
                kill(processID, SIGINT)
            }
        }
    }
}

extension String {
    /// A connection URL with another database's name.
    fileprivate func replacingDatabase(with name: String) -> String {
        prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/\(name)"
    }
}
