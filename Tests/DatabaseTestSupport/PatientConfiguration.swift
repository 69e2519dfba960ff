package import Postgres

extension PostgresConfiguration {
    /// A configuration whose time limits leave room for a machine that is busy with other tests.
    ///
    /// - Parameters:
    ///   - url: The database.
    ///   - connectionsMax: How many connections to open at most.
    /// - Returns: The configuration.
    /// - Throws: `PostgresError.cannotConnect` for a malformed URL.
    package static func patient(url: String, connectionsMax: Int = 4) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(url: url, connectionsMax: connectionsMax)
        configuration.connectTimeout = .seconds(20)
        configuration.pool.leaseTimeout = .seconds(20)
        configuration.statementTimeout = .seconds(20)
        return configuration
    }
}
