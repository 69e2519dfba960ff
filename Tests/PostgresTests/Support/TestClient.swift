import DatabaseTestSupport
import Postgres
import Synchronization

/// Runs a body with a client on an empty database of its own, and with the database's URL.
func withClient<Result: Sendable>(
    maxConnections: Int = 4,
    adjust: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient, String) async throws -> Result
) async throws -> Result {
    try await TestCluster.withEmptyDatabase { url in
        try await withClient(url: url, maxConnections: maxConnections, adjust: adjust) { try await body($0, url) }
    }
}

/// Runs a body with a client on a database that is there already.
///
/// The time limits are generous, since tests share the machine; a test of a limit sets its own.
func withClient<Result: Sendable>(
    url: String,
    maxConnections: Int = 4,
    adjust: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient) async throws -> Result
) async throws -> Result {
    var configuration = try PostgresConfiguration.patient(url: url, maxConnections: maxConnections)
    adjust(&configuration)
    return try await PostgresClient.withClient(configuration: configuration, body)
}

/// Runs a body with a client that all tests share, for statements that leave nothing behind.
func withSharedClient<Result: Sendable>(_ body: (PostgresClient) async throws -> Result) async throws -> Result {
    try await body(SharedClient.make.value)
}

private enum SharedClient {
    static let make = Task {
        PostgresClient(configuration: try .patient(url: await TestCluster.scratchDatabase()))
    }
}

/// Looks at a database's sessions from outside.
struct Sessions: Sendable {
    private let client: PostgresClient

    /// Runs a body with a look at a database.
    static func watching<Result: Sendable>(
        _ url: String,
        _ body: (Sessions) async throws -> Result
    ) async throws -> Result {
        try await withClient(url: url, maxConnections: 1) { try await body(Sessions(client: $0)) }
    }

    /// How many there are beside the one that looks.
    func count() async throws -> Int {
        let rows = try await client.read(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
            """
        )
        return try rows[0].decode("count")
    }

    /// The processes that serve them, but for the one that looks.
    func processIDs() async throws -> [Int] {
        let rows = try await client.read(
            """
            SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
            ORDER BY pid
            """
        )
        return try rows.map { try $0.decode("pid") }
    }

    /// How many wait for a lock.
    func countWaiting() async throws -> Int {
        let rows = try await client.read(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'
            """
        )
        return try rows[0].decode("count")
    }

    /// How many are at a statement which begins so; the look-up's own excepted.
    func count(running prefix: String) async throws -> Int {
        let rows = try await client.read(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'
                AND starts_with(query, \(prefix))
            """
        )
        return try rows[0].decode("count")
    }

    /// How many have a transaction open and are at nothing.
    func countInTransaction() async throws -> Int {
        let rows = try await client.read(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
            """
        )
        return try rows[0].decode("count")
    }

    /// Ends every session that runs or last ran a statement which begins so; the look-up's own excepted.
    ///
    /// - Returns: How many were ended.
    func terminate(running prefix: String) async throws -> Int {
        let rows = try await client.read(
            """
            SELECT pg_terminate_backend(pid, 10000) AS ended FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND starts_with(query, \(prefix))
            """
        )
        return try rows.filter { try $0.decode("ended") }.count
    }

    /// Cancels every statement that runs and begins so; the look-up's own excepted.
    ///
    /// - Returns: How many were cancelled.
    func cancel(running prefix: String) async throws -> Int {
        let rows = try await client.read(
            """
            SELECT pg_cancel_backend(pid) AS cancelled FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND starts_with(query, \(prefix))
            """
        )
        return try rows.filter { try $0.decode("cancelled") }.count
    }
}

/// Counts from many tasks.
final class Counter: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .relaxed) }

    func count() {
        number.add(1, ordering: .relaxed)
    }
}
