import Postgres

/// The table `audit_events`, to which events are only ever added.
///
/// What changes something adds its event in the statement that does so, with ``insertion(of:from:forEach:)``, or in its
/// transaction.
struct AuditStore: Sendable {
    let postgres: PostgresClient

    /// Adds an event, unless the account is gone by now.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - userID: To whose account; nil when there is none.
    ///   - source: Where the request came from.
    /// - Throws: `PostgresError`.
    func add(_ event: AuditEvent, userID: Int?, from source: RequestSource) async throws {
        guard let userID else {
            try await postgres.write(
                """
                INSERT INTO audit_events (event, address, request_id)
                VALUES (\(event.rawValue), \(source.address.text), \(source.requestID))
                """
            )
            return
        }
        // The lock keeps the event from coming after the account is gone, and its address from staying.
        try await postgres.write(
            """
            INSERT INTO audit_events (event, user_id, address, request_id)
            SELECT \(event.rawValue), id, \(source.address.text), \(source.requestID)
            FROM users WHERE id = \(userID) FOR KEY SHARE
            """
        )
    }

    /// The part of a statement that adds an event for each of some users.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - source: Where the request came from; nil for what was done on the command line.
    ///   - users: Selects one column, the users' ids.
    /// - Returns: An INSERT.
    static func insertion(
        of event: AuditEvent,
        from source: RequestSource?,
        forEach users: PostgresQuery
    ) -> PostgresQuery {
        """
        INSERT INTO audit_events (event, user_id, address, request_id)
        SELECT \(event.rawValue), id, \(source?.address.text), \(source?.requestID)
        FROM (\(part: users)) AS affected (id)
        """
    }

    /// Adds an event in a transaction.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - userID: To whose account.
    ///   - source: Where the request came from; nil for what was done on the command line.
    ///   - connection: In the transaction.
    /// - Throws: `PostgresError`.
    static func add(
        _ event: AuditEvent,
        userID: Int,
        from source: RequestSource?,
        on connection: PostgresConnection
    ) async throws {
        try await connection.execute(insertion(of: event, from: source, forEach: "SELECT \(userID)::bigint"))
    }

    /// Removes where a user's events came from, batch by batch.
    ///
    /// - Parameters:
    ///   - userID: Whose.
    ///   - connection: In the transaction that removes the account.
    /// - Throws: `PostgresError`.
    static func forgetSources(ofUser userID: Int, on connection: PostgresConnection) async throws {
        try await connection.executeInBatches { rowCount in
            """
            UPDATE audit_events SET address = NULL, request_id = NULL WHERE id IN (
                SELECT id FROM audit_events
                WHERE user_id = \(userID) AND (address IS NOT NULL OR request_id IS NOT NULL)
                LIMIT \(rowCount)
            )
            """
        }
    }

    /// How long an event keeps the address that it came from and its request's id, which a client may have chosen.
    private static let maxSourceDays = 90

    /// Removes where events came from that happened long ago.
    ///
    /// - Throws: `PostgresError`.
    func removeOldSources() async throws {
        try await postgres.writeInBatches { rowCount in
            """
            UPDATE audit_events SET address = NULL, request_id = NULL WHERE id IN (
                SELECT id FROM audit_events WHERE (address IS NOT NULL OR request_id IS NOT NULL)
                    AND happened_at < now() AT TIME ZONE 'UTC' - make_interval(days => \(Self.maxSourceDays)::integer)
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }
}
