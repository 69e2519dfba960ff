import Foundation
import Postgres
import Synchronization

/// PgBouncer in transaction mode before the servers of all tests, if `SELFIE_TEST_POOLER` is `transaction`.
///
/// `bin/soak pooler` runs the tests of the service so. Services, commands and stores reach their databases by way of it. They
/// listen past it, as an operator does with `DATABASE_URL_LISTEN`.
///
/// What needs a session of its own goes past it:
///
/// - `selfie migrate`, `photos reconcile` and `photos copy`, which refuse to run behind a pooler;
/// - `selfie doctor`, which warns about a pooler, where its tests expect no warning;
/// - ``PostgresConfiguration/direct(url:maxConnections:)``, with which tests hold locks, and look at sessions;
/// - URLs with parameters: those are of sessions, and PgBouncer takes none.
///
/// `bin/soak` names the modules whose tests are of sessions themselves.
package enum TestPooler {
    /// Whether there is to be one.
    package static let isOn = ProcessInfo.processInfo.environment["SELFIE_TEST_POOLER"] == "transaction"

    /// How many sessions of a database it shares out.
    ///
    /// There is one for each statement of two services that a test holds up at a lock. Each transaction still gets another one.
    private static let sessions = 90
    /// The commands that go past it, by their first words.
    private static let directCommands = [["migrate"], ["photos", "reconcile"], ["photos", "copy"], ["doctor"]]
    /// How many sessions the server must have for the databases of all tests that run at once.
    static let serverSessions = 800

    /// By the servers' URLs, up to the name of the database.
    private static let poolers = Mutex<[String: Pgbouncer]>([:])

    /// Puts a pooler before a server, if there is to be one.
    ///
    /// It also sets for the role what the documentation asks of operators who have a pooler, with a time limit for a busy
    /// machine.
    ///
    /// - Parameter serverURL: The URL of a database of the server, whose user is a superuser.
    /// - Throws: What keeps the pooler from starting, `PostgresError`.
    static func begin(before serverURL: String) async throws {
        guard isOn else { return }
        try await PostgresClient.withClient(configuration: .direct(url: serverURL, maxConnections: 1)) { postgres in
            let isStandby: Bool = try await postgres.read("SELECT pg_is_in_recovery() AS is")[0].decode("is")
            guard !isStandby else { return }
            try await postgres.write("ALTER ROLE CURRENT_USER SET jit = off")
            try await postgres.write("ALTER ROLE CURRENT_USER SET statement_timeout = '20s'")
        }
        let pooler = try await Pgbouncer.start(before: serverURL, sessions: sessions)
        poolers.withLock { $0[server(of: serverURL)] = pooler }
    }

    /// Ends the pooler of a server.
    static func end(before serverURL: String) {
        poolers.withLock { $0.removeValue(forKey: server(of: serverURL)) }?.stop()
    }

    /// The URL by way of the pooler, or the same one.
    package static func url(for databaseURL: String) -> String {
        let server = server(of: databaseURL)
        guard !databaseURL.contains("?"), let pooler = poolers.withLock({ $0[server] }) else { return databaseURL }
        return pooler.url + databaseURL.dropFirst(server.count)
    }

    /// The settings of a command, with the URLs by way of the pooler.
    ///
    /// - Parameters:
    ///   - settings: Values by key.
    ///   - command: The command's words.
    /// - Returns: The same values, but for URLs of databases behind a pooler.
    package static func settings(_ settings: [String: String], command: [String] = []) -> [String: String] {
        guard let direct = settings["DATABASE_URL"], url(for: direct) != direct,
            !directCommands.contains(where: { command.starts(with: $0) })
        else { return settings }
        var settings = settings
        settings["DATABASE_URL"] = url(for: direct)
        settings["DATABASE_URL_READ"] = settings["DATABASE_URL_READ"].map { url(for: $0) }
        settings["DATABASE_URL_LISTEN"] = settings["DATABASE_URL_LISTEN"] ?? direct
        return settings
    }

    private static func server(of url: String) -> String {
        url.lastIndex(of: "/").map { String(url[...$0]) } ?? url
    }
}
