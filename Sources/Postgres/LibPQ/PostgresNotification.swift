/// What a session sent to its listeners by NOTIFY (PostgreSQL manual, "NOTIFY").
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
    /// Earlier notifications may have been missed. Listening has just begun, or begun again after a lost connection, or
    /// the listener was too slow.
    case mayHaveMissed
}
