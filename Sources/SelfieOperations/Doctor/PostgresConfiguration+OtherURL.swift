import Postgres

extension PostgresConfiguration {
    /// One connection to another URL of the database, with the same limits.
    ///
    /// - Throws: `PostgresError.cannotConnect` with libpq's message, which may quote the URL.
    func leading(to url: String) throws(PostgresError) -> PostgresConfiguration {
        var other = try PostgresConfiguration(url: url, maxConnections: 1)
        other.connectTimeout = connectTimeout
        other.pool.leaseTimeout = pool.leaseTimeout
        return other
    }
}
