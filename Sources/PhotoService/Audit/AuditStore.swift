import Postgres

/// The table `audit_events`, to which events are only ever added.
///
/// What changes something adds its event in the statement that does so, or in its transaction; this adds those of what
/// came to nothing.
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
            try await postgres.execute(
                """
                INSERT INTO audit_events (event, address, request_id)
                VALUES (\(event.rawValue), \(source.address.text), \(source.requestID))
                """
            )
            return
        }
        // The lock keeps the event from coming after the account is gone, and its address from staying.
        try await postgres.execute(
            """
            INSERT INTO audit_events (event, user_id, address, request_id)
            SELECT \(event.rawValue), id, \(source.address.text), \(source.requestID)
            FROM users WHERE id = \(userID) FOR KEY SHARE
            """
        )
    }

    /// How long an event keeps the address that it came from and its request's id, which a client may have chosen.
    private static let sourceDaysMax = 90
    /// How many events forget theirs at a time.
    private static let batchSize = 5_000

    /// Removes where events came from that happened long ago.
    ///
    /// - Returns: Whether there may be more.
    /// - Throws: `PostgresError`.
    func removeOldSources() async throws -> Bool {
        let count = try await postgres.execute(
            """
            UPDATE audit_events SET address = NULL, request_id = NULL WHERE id IN (
                SELECT id FROM audit_events WHERE (address IS NOT NULL OR request_id IS NOT NULL)
                    AND happened_at < now() AT TIME ZONE 'UTC' - make_interval(days => \(Self.sourceDaysMax)::integer)
                LIMIT \(Self.batchSize) FOR UPDATE SKIP LOCKED
            )
            """
        )
        return count == Self.batchSize
    }
}
