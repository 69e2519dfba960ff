import FoundationEssentials
import Postgres

/// The table `sessions`.
struct SessionStore: Sendable {
    let postgres: PostgresClient

    /// The session that a token names, expired or not.
    func find(token: String) async throws -> Session? {
        let rows = try await postgres.query(
            "SELECT id, user_id, expires_at FROM sessions WHERE token_digest = \(IssuedToken.digest(of: token))"
        )
        return try rows.first.map { row in
            Session(id: try row.decode("id"), userID: try row.decode("user_id"), expiry: try row.decode("expires_at"))
        }
    }

    /// Begins a session, unless the password that was checked is no longer the user's, or the account was disabled.
    ///
    /// The user's row is locked meanwhile, so that a new password, or what disables or deletes the account, either ends
    /// this session or keeps it from beginning. Where it begins is known to be the user's from then on.
    ///
    /// - Parameters:
    ///   - issued: The token.
    ///   - userID: Whose session it is.
    ///   - passwordHash: The hash that the password was checked against.
    ///   - device: What the user is to recognise it by.
    ///   - source: Where the request came from.
    /// - Returns: Whether the session began.
    /// - Throws: `PostgresError`.
    func begin(
        _ issued: IssuedToken,
        userID: Int,
        passwordHash: String,
        device: String?,
        from source: RequestSource
    ) async throws -> Bool {
        let count = try await postgres.execute(
            """
            WITH begun AS (
                INSERT INTO sessions (user_id, token_digest, expires_at, device)
                SELECT id, \(IssuedToken.digest(of: issued.token)), \(issued.expiry), \(device)
                FROM users WHERE id = \(userID) AND password_hash = \(passwordHash) AND disabled_at IS NULL FOR SHARE
                RETURNING user_id
            ), known AS (
                INSERT INTO known_addresses (user_id, network) SELECT user_id, \(source.address.network) FROM begun
                ON CONFLICT (user_id, network) DO UPDATE SET last_used_at = excluded.last_used_at
            )
            INSERT INTO audit_events (event, user_id, address, request_id)
            SELECT \(AuditEvent.signIn.rawValue), user_id, \(source.address.text), \(source.requestID) FROM begun
            """
        )
        return count == 1
    }

    /// A user's sessions that have not expired, those begun last first.
    ///
    /// - Parameters:
    ///   - userID: Whose.
    ///   - date: The time.
    ///   - sessionID: One that is listed however many there are.
    /// - Returns: At most ``listMax``.
    /// - Throws: `PostgresError`.
    func list(ofUser userID: Int, at date: Date, always sessionID: Int?) async throws -> [DescribedSession] {
        let rows = try await postgres.query(
            """
            SELECT id, device, created_at, last_used_at, expires_at FROM (
                SELECT id, device, created_at, last_used_at, expires_at FROM sessions
                WHERE user_id = \(userID) AND expires_at > \(date)
                ORDER BY id IS NOT DISTINCT FROM \(sessionID)::bigint DESC, id DESC LIMIT \(Self.listMax)
            ) AS listed ORDER BY id DESC
            """
        )
        return try rows.map(DescribedSession.init)
    }

    /// The most sessions that are listed.
    static let listMax = 1_000

    /// Ends one session of a user's; of parallel calls, one succeeds.
    ///
    /// - Parameters:
    ///   - id: Which.
    ///   - userID: Whose it must be.
    ///   - event: What is noted.
    ///   - source: Where the request came from.
    /// - Returns: Whether there was one to end.
    /// - Throws: `PostgresError`.
    @discardableResult
    func end(id: Int, ofUser userID: Int, as event: AuditEvent, from source: RequestSource) async throws -> Bool {
        let count = try await postgres.execute(
            """
            WITH ended AS (DELETE FROM sessions WHERE id = \(id) AND user_id = \(userID) RETURNING user_id)
            INSERT INTO audit_events (event, user_id, address, request_id)
            SELECT \(event.rawValue), user_id, \(source.address.text), \(source.requestID) FROM ended
            """
        )
        return count == 1
    }

    /// Ends all sessions of a user.
    func endAll(ofUser userID: Int, from source: RequestSource) async throws {
        try await postgres.execute(
            """
            WITH ended AS (DELETE FROM sessions WHERE user_id = \(userID) RETURNING user_id)
            INSERT INTO audit_events (event, user_id, address, request_id)
            SELECT \(AuditEvent.allTokensCleared.rawValue), user_id, \(source.address.text), \(source.requestID)
            FROM ended LIMIT 1
            """
        )
    }

    /// Notes that sessions were used, each at most once a minute.
    func noteUse(of ids: [Int]) async throws {
        try await postgres.execute(
            """
            UPDATE sessions SET last_used_at = now() AT TIME ZONE 'UTC' WHERE id IN (
                SELECT id FROM sessions
                WHERE id = ANY(\(ids)) AND expires_at > now() AT TIME ZONE 'UTC'
                    AND last_used_at <= now() AT TIME ZONE 'UTC' - interval '1 minute'
                ORDER BY id FOR UPDATE SKIP LOCKED
            )
            """
        )
    }

    /// Forgets sessions that expired a week ago; until then, who uses one is told that it has.
    ///
    /// - Returns: Whether there may be more.
    /// - Throws: `PostgresError`.
    func removeExpired() async throws -> Bool {
        let count = try await postgres.execute(
            """
            DELETE FROM sessions WHERE id IN (
                SELECT id FROM sessions WHERE expires_at < now() AT TIME ZONE 'UTC' - interval '7 days'
                LIMIT \(Self.batchSize) FOR UPDATE SKIP LOCKED
            )
            """
        )
        return count == Self.batchSize
    }

    /// How many sessions are removed at a time.
    private static let batchSize = 5_000
}

extension DescribedSession {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.decode("id"),
            device: try row.decodeIfPresent("device"),
            creation: try row.decode("created_at"),
            lastUse: try row.decode("last_used_at"),
            expiry: try row.decode("expires_at")
        )
    }
}
