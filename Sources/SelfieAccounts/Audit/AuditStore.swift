package import Postgres

/// The table `audit_events`.
///
/// Events are added, and removed only when they are old. Events without an account are counted in one row for each hour and
/// site, so that a client can't fill the table with failures.
///
/// A change adds its event in the same statement, with ``insertion(of:from:forEach:)``, or in the same transaction.
package struct AuditStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// Adds an event, unless the account was deleted meanwhile.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - userID: The account's id; nil when there is none.
    ///   - source: Where the request came from.
    /// - Throws: `PostgresError`.
    func add(_ event: AuditEvent, userID: Int?, from source: RequestSource) async throws {
        guard let userID else {
            try await postgres.write(Self.insertion(of: event, from: source))
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

    /// Adds an event that the service itself has caused, unless the account was deleted meanwhile.
    func add(_ event: AuditEvent, userID: Int) async throws {
        try await postgres.write(
            """
            INSERT INTO audit_events (event, user_id) SELECT \(event.rawValue), id FROM users WHERE id = \(userID) FOR KEY SHARE
            """
        )
    }

    /// The part of a statement that counts an event without an account.
    static func insertion(of event: AuditEvent, from source: RequestSource) -> PostgresQuery {
        """
        INSERT INTO audit_events AS counted (event, address, request_id, hour)
        VALUES (
            \(event.rawValue), \(source.address.site), \(source.requestID), date_trunc('hour', now() AT TIME ZONE 'UTC')
        )
        ON CONFLICT (hour, event, address) WHERE hour IS NOT NULL DO UPDATE SET count = counted.count + 1
        """
    }

    /// The part of a statement that adds an event for each of some users.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - source: Where the request came from; nil for the command line.
    ///   - users: Selects one column, the users' ids.
    /// - Returns: An INSERT.
    package static func insertion(
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
    ///   - actorID: The account that did it, if that is another.
    ///   - role: The role that the event is about; nil for none.
    ///   - source: Where the request came from; nil for the command line.
    ///   - connection: A connection in a transaction.
    /// - Returns: The event's id.
    /// - Throws: `PostgresError`.
    @discardableResult
    package static func add(
        _ event: AuditEvent,
        userID: Int,
        by actorID: Int? = nil,
        role: String? = nil,
        from source: RequestSource?,
        on connection: PostgresConnection
    ) async throws -> Int {
        try await connection.query(
            """
            INSERT INTO audit_events (event, user_id, actor_id, role, address, request_id)
            VALUES (
                \(event.rawValue), \(userID)::bigint, \(actorID)::bigint, \(role), \(source?.address.text), \(source?.requestID)
            )
            RETURNING id::bigint AS id
            """
        )[0].decode("id")
    }

    /// Removes addresses and request ids from a user's events, and from what the user did to others, batch by batch.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - connection: In the transaction that removes the account.
    /// - Throws: `PostgresError`.
    package static func forgetSources(ofUser userID: Int, on connection: PostgresConnection) async throws {
        let hasSource: PostgresQuery = "(address IS NOT NULL OR request_id IS NOT NULL)"
        try await connection.executeInBatches { rowCount in
            """
            UPDATE audit_events SET address = NULL, request_id = NULL WHERE id IN (
                SELECT id FROM audit_events WHERE user_id = \(userID) AND \(part: hasSource)
                UNION ALL SELECT id FROM audit_events WHERE actor_id = \(userID) AND \(part: hasSource)
                LIMIT \(rowCount)
            )
            """
        }
    }

    /// Removes events that are too old.
    ///
    /// - Parameter days: After how many days events are deleted, 30 or more.
    /// - Throws: `PostgresError`.
    package func removeOld(days: Int) async throws {
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM audit_events WHERE id IN (
                SELECT id FROM audit_events
                WHERE happened_at < now() AT TIME ZONE 'UTC' - make_interval(days => \(days)::integer)
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }

    /// How many days an event keeps its address and its request's id, which a client may have chosen.
    private static let maxSourceDays = 90

    /// Removes addresses and request ids from old events.
    ///
    /// - Throws: `PostgresError`.
    package func removeOldSources() async throws {
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
