/// What a session said by NOTIFY to those who listen (PostgreSQL manual, "NOTIFY").
package struct PostgresNotification: Sendable, Equatable {
    package let channel: String
    /// Less than 8,000 bytes; empty when there is none.
    package let payload: String
    /// The process id of the session that notified.
    package let processID: Int32
}

/// What a listener learns.
package enum PostgresNotificationEvent: Sendable, Equatable {
    case notification(PostgresNotification)
    /// Listening has begun, or begun again after the connection was lost, or the listener was too slow. Whatever was
    /// notified before may have been missed.
    case mayHaveMissed
}
