package import CoreMetrics
package import NIOCore
import NIOPosix
package import Outages
package import Tracing

/// Where the database is and how long to wait for it.
package struct PostgresConfiguration: Sendable {
    /// A connection URL with all of libpq's parameters (`sslmode`, several hosts, `target_session_attrs` and the like);
    /// it may hold a password.
    package private(set) var url: String
    /// Where notifications are received; nil for the same place.
    ///
    /// A pooler in transaction mode delivers none, so this leads past it.
    package private(set) var listenURL: String?
    /// A standby of the database, or a proxy before several; nil for none.
    package private(set) var standbyURL: String?
    /// What metrics of connections begin with.
    private(set) var metricsPrefix = "postgres"
    /// What the server calls the connections, unless the URL says otherwise; nil for nothing.
    package var applicationName: String?
    /// How many connections, and how long callers and connections wait.
    package var pool = PoolLimits()
    /// How long connecting to each host may take; whole seconds, two at least.
    package var connectTimeout: Duration = .seconds(2)
    /// How long a statement may take until the server cancels it; nil for no limit.
    package var statementTimeout: Duration? = .milliseconds(2500)

    /// The pause before a transaction is tried again, the first time that it conflicts with others.
    var retryPause: Duration = .milliseconds(10)

    /// Where connections run.
    ///
    /// On the callers' own loops, no call moves between threads.
    package var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

    /// Called when the database can no longer be reached, when the reason changes, and when it can be reached again.
    ///
    /// A reason is libpq's text, without the URL's password. It is called under a lock, so it must be quick.
    package var onReachabilityChange: @Sendable (OutageReport.Change) -> Void = { _ in }
    /// The same for the standby.
    package var onStandbyReachabilityChange: @Sendable (OutageReport.Change) -> Void = { _ in }

    /// Where metrics go; nil for nowhere.
    package var metrics: (any MetricsFactory)?
    /// Where spans go; nil for nowhere.
    package var tracer: (any Tracer)?

    /// How much longer the client waits than the server lets a statement run.
    static let answerGrace: Duration = .milliseconds(500)

    /// Takes a connection URL that libpq understands.
    ///
    /// - Parameters:
    ///   - url: A `postgresql://` or `postgres://` URL, or a keyword/value string.
    ///   - maxConnections: How many connections to open at most.
    /// - Throws: `PostgresError.cannotConnect` with libpq's message, which may quote the URL.
    package init(url: String, maxConnections: Int = 10) throws(PostgresError) {
        self.url = try Self.checked(url)
        pool.maxConnections = maxConnections
    }

    private static func checked(_ url: String) throws(PostgresError) -> String {
        if let error = LibPQ.error(inURL: url) { throw .cannotConnect(error) }
        return url
    }

    /// Sets where notifications are received.
    ///
    /// - Throws: `PostgresError.cannotConnect` with libpq's message, which may quote the URL.
    package mutating func setListenURL(_ url: String) throws(PostgresError) { listenURL = try Self.checked(url) }

    /// Sets the standby that may be read from.
    ///
    /// - Throws: `PostgresError.cannotConnect` with libpq's message, which may quote the URL.
    package mutating func setStandbyURL(_ url: String) throws(PostgresError) { standbyURL = try Self.checked(url) }

    /// The same for connections that receive notifications.
    var forListening: PostgresConfiguration {
        var configuration = self
        configuration.url = listenURL ?? url
        return configuration
    }

    /// How long a reader waits for a connection to a standby, before the primary is asked.
    private static let standbyLeaseTimeout: Duration = .milliseconds(500)

    /// The same for the standby; nil if there is none.
    var forStandby: PostgresConfiguration? {
        guard let standbyURL else { return nil }
        var configuration = self
        (configuration.url, configuration.standbyURL) = (standbyURL, nil)
        configuration.pool.leaseTimeout = Self.standbyLeaseTimeout
        configuration.metricsPrefix = "postgres_standby"
        configuration.onReachabilityChange = onStandbyReachabilityChange
        return configuration
    }

    /// How many connections are open at most, those to a standby among them.
    package var maxConnections: Int { pool.maxConnections * (standbyURL == nil ? 1 : 2) }

    /// The defaults of each connection, by libpq's keywords; the URL takes precedence.
    var connectParameters: [String: String] {
        var parameters = ["connect_timeout": String(max(2, connectTimeout.components.seconds))]
        parameters["fallback_application_name"] = applicationName
        return parameters
    }

    /// What the URL sets, by libpq's keywords (`host`, `sslmode` and the like), a password among them.
    package var options: [String: String] { LibPQ.options(ofURL: url) }

    /// Sets the session's time zone, and the time limits that the server keeps.
    ///
    /// It also keeps PostgreSQL from compiling statements. That took 0.2 s for one that runs for a millisecond, where the
    /// planner did not know how few rows there were.
    ///
    /// Behind a pooler it sets nothing: other clients would get the session with these settings, and this client
    /// another.
    ///
    /// - Parameter processID: The process that the server named when the connection was opened.
    /// - Returns: A statement with one row. `is_pooled` says whether another process has answered. `unconfirmed_commits` is how
    ///   many commits of this user have waited for a standby for longer than a statement may take.
    func setUp(processID: Int) -> PostgresQuery {
        let milliseconds = statementTimeout.map { Int($0 / .milliseconds(1)) } ?? 0
        return """
            SELECT pg_backend_pid() <> \(processID)::bigint AS is_pooled,
                (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'
                    AND query_start < now() - make_interval(secs => \(milliseconds)::bigint / 1000.0)) AS unconfirmed_commits,
                CASE WHEN pg_backend_pid() = \(processID)::bigint THEN set_config('timezone', 'UTC', false)
                    || set_config('statement_timeout', \(String(milliseconds)), false)
                    || set_config('jit', 'off', false) END
            """
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomReflectable {
    package var description: String { "PostgresConfiguration(maxConnections: \(pool.maxConnections))" }

    package var customMirror: Mirror { Mirror(self, children: ["maxConnections": pool.maxConnections]) }
}
