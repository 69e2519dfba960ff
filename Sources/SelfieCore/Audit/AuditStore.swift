import Postgres

/// The table `audit_events`.
///
/// Events are added and never deleted.
///
/// A change adds its event in the same statement, with ``insertion(of:from:forEach:)``, or in the same transaction.
struct AuditStore: Sendable {
    let postgres: PostgresClient

    /// Adds an event, unless the account is gone by now.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - userID: The account's id; nil when there is none.
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
        // Because of the lock, no event with an address can come after the account's deletion.
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
    ///   - source: Where the request came from; nil for the command line.
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
    ///   - userID: The account's id.
    ///   - source: Where the request came from; nil for the command line.
    ///   - connection: A connection in a transaction.
    /// - Throws: `PostgresError`.
    static func add(
        _ event: AuditEvent,
        userID: Int,
        from source: RequestSource?,
        on connection: PostgresConnection
    ) async throws {
        try await connection.execute(insertion(of: event, from: source, forEach: "SELECT \(userID)::bigint"))
    }

    /// Removes addresses and request ids from a user's events, batch by batch.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
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

    /// How many days an event keeps its address and its request's id, which a client may have chosen.
    private static let maxSourceDays = 90

    /// Removes addresses and request ids from old events.
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
