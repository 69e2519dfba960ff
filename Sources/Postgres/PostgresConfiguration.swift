/// Where the database is and how long to wait for it.
package struct PostgresConfiguration: Sendable {
    /// A connection URL with all of libpq's parameters (`sslmode` and the like); it may hold a password.
    package let url: String
    /// How many connections the client opens at most.
    package var connectionsMax: Int
    /// How long a caller waits for a connection to become free.
    package var leaseTimeout: Duration = .seconds(2)
    /// How long connecting may take.
    package var connectTimeout: Duration = .seconds(2)
    /// How long a statement may take; nil for no limit.
    package var statementTimeout: Duration? = .milliseconds(2500)
    /// An idle connection that was used less than this ago is lent without looking whether the server closed it.
    package var trustedIdleTime: Duration = .seconds(1)

    /// Takes a connection URL that libpq understands.
    ///
    /// - Parameters:
    ///   - url: A `postgresql://` or `postgres://` URL, or a keyword/value string.
    ///   - connectionsMax: How many connections to open at most.
    /// - Throws: `PostgresError.cannotConnect` with libpq's complaint, which may quote the URL.
    package init(url: String, connectionsMax: Int = 10) throws(PostgresError) {
        if let complaint = LibPQ.complaint(aboutURL: url) { throw .cannotConnect(complaint) }
        self.url = url
        self.connectionsMax = connectionsMax
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomReflectable {
    package var description: String { "PostgresConfiguration(connectionsMax: \(connectionsMax))" }

    package var customMirror: Mirror { Mirror(self, children: ["connectionsMax": connectionsMax]) }
}
