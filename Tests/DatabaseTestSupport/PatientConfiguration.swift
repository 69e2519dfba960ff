package import Postgres

extension PostgresConfiguration {
    /// A configuration whose time limits leave room for a machine that is busy with other tests.
    ///
    /// - Parameters:
    ///   - url: The database. With ``TestPooler``, it is reached by way of that.
    ///   - maxConnections: How many connections to open at most.
    /// - Returns: The configuration.
    /// - Throws: `PostgresError.cannotConnect` for a malformed URL.
    package static func patient(url: String, maxConnections: Int = 4) throws -> PostgresConfiguration {
        var configuration = try direct(url: TestPooler.url(for: url), maxConnections: maxConnections)
        try configuration.setListenURL(url)
        return configuration
    }

    /// The same, past any pooler: for tests that need a session of their own, or look at those of others.
    package static func direct(url: String, maxConnections: Int = 4) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(url: url, maxConnections: maxConnections)
        configuration.waitPatiently()
        return configuration
    }

    /// Leaves room for a machine that is busy with other tests.
    package mutating func waitPatiently() {
        connectTimeout = .seconds(20)
        pool.leaseTimeout = .seconds(20)
        statementTimeout = .seconds(20)
    }
}
