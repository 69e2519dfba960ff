package import FoundationEssentials
package import Postgres

/// The table `sessions`.
package struct SessionStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// The session that a token names, expired or not.
    func find(token: String) async throws -> Session? {
        let rows = try await postgres.read(
            "SELECT id, user_id, expires_at FROM sessions WHERE token_digest = \(IssuedToken.digest(of: token))"
        )
        return try rows.first.map { row in
            Session(id: try row.decode("id"), userID: try row.decode("user_id"), expiry: try row.decode("expires_at"))
        }
    }

    /// Begins a session, unless the password that was checked is no longer the user's, or the account was disabled.
    ///
    /// The user's row is locked meanwhile. So a new password, or what disables or deletes the account, either ends this
    /// session or keeps it from beginning. The place where it begins is known to be the user's from then on.
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
        let owner: PostgresQuery = """
            SELECT id FROM users
            WHERE id = \(userID) AND password_hash = \(passwordHash) AND disabled_at IS NULL FOR SHARE
            """
        let count = try await postgres.write(
            """
            WITH begun AS (
                \(part: Self.insertion(of: issued, device: device, forEach: owner)) RETURNING user_id
            ), known AS (
                \(part: KnownAddressStore.insertion(of: source.address.network, forEach: "SELECT user_id FROM begun"))
            )
            \(part: AuditStore.insertion(of: .signIn, from: source, forEach: "SELECT user_id FROM begun"))
            """
        )
        return count == 1
    }

    /// Begins a session in a transaction.
    ///
    /// - Parameters:
    ///   - issued: The token.
    ///   - userID: Whose session it is.
    ///   - device: What the user is to recognise it by.
    ///   - connection: In the transaction.
    /// - Throws: `PostgresError`.
    static func begin(
        _ issued: IssuedToken,
        userID: Int,
        device: String?,
        on connection: PostgresConnection
    ) async throws {
        try await connection.execute(
            insertion(of: issued, device: device, forEach: "SELECT \(userID)::bigint")
        )
    }

    /// The part of a statement that begins a session of each of some users.
    private static func insertion(
        of issued: IssuedToken,
        device: String?,
        forEach users: PostgresQuery
    ) -> PostgresQuery {
        """
        INSERT INTO sessions (user_id, token_digest, expires_at, device)
        SELECT id, \(IssuedToken.digest(of: issued.token)), \(issued.expiry), \(device)
        FROM (\(part: users)) AS affected (id)
        """
    }

    /// A user's sessions that have not expired, those begun last first.
    ///
    /// - Parameters:
    ///   - userID: Whose.
    ///   - date: The time.
    ///   - sessionID: One that is listed however many there are.
    /// - Returns: At most ``maxList``.
    /// - Throws: `PostgresError`.
    package func list(ofUser userID: Int, at date: Date, always sessionID: Int?) async throws -> [DescribedSession] {
        let rows = try await postgres.read(
            """
            SELECT id, device, created_at, last_used_at, expires_at FROM (
                SELECT id, device, created_at, last_used_at, expires_at FROM sessions
                WHERE user_id = \(userID) AND expires_at > \(date)
                ORDER BY id IS NOT DISTINCT FROM \(sessionID)::bigint DESC, id DESC LIMIT \(Self.maxList)
            ) AS listed ORDER BY id DESC
            """
        )
        return try rows.map(DescribedSession.init)
    }

    /// The most sessions that are listed.
    static let maxList = 1_000

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
    package func end(id: Int, ofUser userID: Int, as event: AuditEvent, from source: RequestSource) async throws -> Bool
    {
        let count = try await postgres.write(
            """
            WITH ended AS (DELETE FROM sessions WHERE id = \(id) AND user_id = \(userID) RETURNING user_id)
            \(part: AuditStore.insertion(of: event, from: source, forEach: "SELECT user_id FROM ended"))
            """
        )
        return count == 1
    }

    /// Ends all sessions of a user.
    package func endAll(ofUser userID: Int, from source: RequestSource) async throws {
        try await postgres.write(
            """
            WITH ended AS (DELETE FROM sessions WHERE user_id = \(userID) RETURNING user_id)
            \(part: AuditStore.insertion(
                of: .allTokensCleared,
                from: source,
                forEach: "SELECT user_id FROM ended LIMIT 1"
            ))
            """
        )
    }

    /// Ends all sessions of a user, by one statement, so that parallel ones lock them in the same order.
    ///
    /// - Parameters:
    ///   - userID: Whose.
    ///   - sessionID: The session that asks for it; nil when none does.
    ///   - connection: In a transaction, to be rolled back when that session has ended meanwhile.
    /// - Throws: `SessionError.ended` when it has, `PostgresError`.
    static func endAll(ofUser userID: Int, by sessionID: Int?, on connection: PostgresConnection) async throws {
        let rows = try await connection.query(
            """
            WITH ended AS (DELETE FROM sessions WHERE user_id = \(userID) RETURNING id)
            SELECT id FROM ended WHERE id = \(sessionID)
            """
        )
        if sessionID != nil, rows.isEmpty { throw SessionError.ended }
    }

    /// Notes that sessions were used, each at most once a minute.
    func noteUse(of ids: [Int]) async throws {
        try await postgres.write(
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

    /// Forgets sessions that expired a week ago; until then, a client that uses one is told that it has.
    ///
    /// - Throws: `PostgresError`.
    func removeExpired() async throws {
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM sessions WHERE id IN (
                SELECT id FROM sessions WHERE expires_at < now() AT TIME ZONE 'UTC' - interval '7 days'
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }
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
