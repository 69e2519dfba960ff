package import FoundationEssentials
package import Postgres

/// The table `sessions`.
package struct SessionStore: Sendable {
    let postgres: PostgresClient
    let notifier: ChangeNotifier?
    /// Nil where no mail is sent.
    var notices: Notices?

    /// - Parameters:
    ///   - postgres: The database.
    ///   - notifier: Notifies readers of changes; with nil, they see them within ten seconds.
    package init(postgres: PostgresClient, notifier: ChangeNotifier? = nil) {
        self.postgres = postgres
        self.notifier = notifier
    }

    /// The session of a token, expired or not.
    func find(token: String) async throws -> Session? {
        try await postgres.lookUp(Self.byToken, key: IssuedToken.digest(of: token)).map { row in
            Session(
                id: try row.decode("id"),
                memberID: try row.decode("member_id"),
                library: try PhotoLibrary(row),
                expiry: try row.decode("expires_at"),
                maxUnusedDays: try row.decodeIfPresent("max_unused_days"),
                writeCount: try row.decode("write_count")
            )
        }
    }

    static let byToken = PostgresLookup(
        columns: """
            sessions.id, coalesce(member_id, (SELECT member_id FROM users WHERE users.id = sessions.user_id)) AS member_id,
            expires_at, max_unused_days, write_count, \(PhotoLibrary.columns)
            """,
        source: """
            FROM sessions LEFT JOIN photo_libraries ON photo_libraries.user_id = sessions.user_id
            WHERE token_digest = asked.key
            """
    )

    /// Begins a session, unless the password was changed or the account was disabled meanwhile.
    ///
    /// A user has at most ``maxCount`` sessions. Those that were unused for longest end.
    ///
    /// The user's row is locked meanwhile. So a change of the password, or disabling or deleting the account, ends this
    /// session or comes before it. The network of the request is known as the user's from then on.
    ///
    /// - Parameters:
    ///   - issued: The token.
    ///   - user: The user, with the hash that the password was checked against.
    ///   - passwordHash: The hash that the account must have.
    ///   - device: Its label, for the user.
    ///   - source: Where the request came from.
    /// - Returns: Whether the session began.
    /// - Throws: `PostgresError`.
    func begin(
        _ issued: IssuedToken,
        of user: User,
        passwordHash: String,
        device: String?,
        from source: RequestSource
    ) async throws -> Bool {
        let owner: PostgresQuery = """
            SELECT id FROM users
            WHERE id = \(user.id) AND password_hash = \(passwordHash) AND disabled_at IS NULL FOR NO KEY UPDATE
            """
        let begun = try await postgres.withConnection { connection in
            try await begin(issued, of: user, owner: owner, device: device, from: source, on: connection)
        }
        notify(of: begun, user)
        return begun.hasBegun
    }

    /// What has come of the begin of a session.
    struct Begun: Sendable {
        let hasBegun: Bool
        /// Whether another session has ended for it.
        let hasReplaced: Bool
    }

    /// Notifies other processes, after the commit.
    func notify(of begun: Begun, _ user: User) {
        if begun.hasReplaced { notifier?.notify([.user(user.id)]) }
        if begun.hasBegun, notices?.includesSignIns == true { notifier?.notify([.deliveries]) }
    }

    /// Begins a session of a user whom a part of a statement selects.
    func begin(
        _ issued: IssuedToken,
        of user: User,
        owner: PostgresQuery,
        device: String?,
        from source: RequestSource,
        on connection: PostgresConnection
    ) async throws -> Begun {
        let statement: PostgresQuery = """
            WITH begun AS (
                \(part: Self.insertion(of: issued, device: device, forEach: owner)) RETURNING user_id
            ), known AS (
                \(part: KnownAddressStore.insertion(of: source.address.network, forEach: "SELECT user_id FROM begun"))
            ), forgotten AS (
                \(part: KnownAddressStore.removal(beside: source.address.network, ofUser: "SELECT user_id FROM begun"))
            ), replaced AS (
                DELETE FROM sessions WHERE id IN (
                    SELECT id FROM sessions WHERE user_id = (SELECT user_id FROM begun)
                    ORDER BY last_used_at DESC, id DESC OFFSET \(Self.maxCount - 1) LIMIT \(Self.maxReplacedCount)
                    FOR UPDATE SKIP LOCKED
                ) RETURNING id
            ), noted AS (
                \(part: AuditStore.insertion(of: .signIn, from: source, forEach: "SELECT user_id FROM begun"))
                RETURNING id
            )\(part: try notice(of: user, from: source.address.network))
            SELECT EXISTS (SELECT FROM begun) AS has_begun, EXISTS (SELECT FROM replaced) AS has_replaced
            """
        let row = try await connection.query(statement)[0]
        return Begun(hasBegun: try row.decode("has_begun"), hasReplaced: try row.decode("has_replaced"))
    }

    /// The part that tells a user of a sign-in from a place that is new, unless it is the first.
    ///
    /// All parts of a statement see the rows from before it.
    private func notice(of user: User, from network: String) throws -> PostgresQuery {
        guard let notices, notices.includesSignIns else { return "" }
        let events: PostgresQuery = """
            SELECT id FROM noted WHERE EXISTS (SELECT FROM known_addresses WHERE user_id = \(user.id))
                AND NOT EXISTS (SELECT FROM known_addresses WHERE user_id = \(user.id) AND network = \(network))
            """
        return ", told AS (\(part: try notices.insertion(of: .newPlace, to: user.email, forEach: events)))"
    }

    /// The most sessions of a user.
    ///
    /// There may be a few more for a moment, when sessions begin in parallel.
    static let maxCount = 100
    /// The most sessions that end when one begins: a user of an older version may have had any number.
    private static let maxReplacedCount = 1_000

    /// Begins a session in a transaction.
    ///
    /// - Parameters:
    ///   - issued: The token.
    ///   - userID: The user's id.
    ///   - device: Its label, for the user.
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

    /// The part of a statement that begins a session for each of some users.
    private static func insertion(
        of issued: IssuedToken,
        device: String?,
        forEach users: PostgresQuery
    ) -> PostgresQuery {
        """
        INSERT INTO sessions (user_id, member_id, token_digest, expires_at, max_unused_days, device)
        SELECT id, (SELECT member_id FROM users WHERE users.id = affected.id), \(IssuedToken.digest(of: issued.token)),
            \(issued.expiry), \(issued.maxUnusedDays)::integer, \(device)
        FROM (\(part: users)) AS affected (id)
        """
    }

    /// A user's sessions that have not expired, newest first.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - date: The time.
    ///   - sessionID: A session that is always in the list.
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

    /// Whether a session has not ended.
    ///
    /// - Parameter id: The session's id.
    /// - Returns: Also true for one that has expired.
    /// - Throws: `PostgresError`.
    package func isOpen(_ id: Int) async throws -> Bool {
        try await !postgres.read("SELECT FROM sessions WHERE id = \(id)").isEmpty
    }

    /// Ends one session of a user's, and says whether there was one.
    ///
    /// Of parallel calls, one succeeds.
    func end(id: Int, ofUser userID: Int, as event: AuditEvent, from source: RequestSource) async throws -> Bool {
        let count = try await postgres.write(
            """
            WITH ended AS (DELETE FROM sessions WHERE id = \(id) AND user_id = \(userID) RETURNING user_id)
            \(part: AuditStore.insertion(of: event, from: source, forEach: "SELECT user_id FROM ended"))
            """
        )
        if count == 1 { notifier?.notify([.user(userID)]) }
        return count == 1
    }

    /// Ends all sessions of a user, batch by batch.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - sessionID: The session of the request; nil when there is none.
    ///   - connection: A connection in a transaction that has locked the user. Roll it back when this throws.
    /// - Throws: `SessionError.ended` when that session has ended meanwhile, `PostgresError`.
    package static func endAll(ofUser userID: Int, by sessionID: Int?, on connection: PostgresConnection) async throws {
        if let sessionID {
            let count = try await connection.execute(
                "DELETE FROM sessions WHERE id = \(sessionID) AND user_id = \(userID)"
            )
            guard count == 1 else { throw SessionError.ended }
        }
        try await connection.executeInBatches(of: 50_000) { rowCount in
            "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE user_id = \(userID) LIMIT \(rowCount))"
        }
    }

    /// Notes that sessions were used, each at most once a minute.
    ///
    /// Remembered sessions are extended.
    func noteUse(of ids: [Int]) async throws {
        try await postgres.write(
            """
            UPDATE sessions SET last_used_at = now() AT TIME ZONE 'UTC',
                expires_at = CASE WHEN max_unused_days IS NULL THEN expires_at
                    ELSE now() AT TIME ZONE 'UTC' + make_interval(days => max_unused_days) END
            WHERE id IN (
                SELECT id FROM sessions
                WHERE id = ANY(\(ids)) AND expires_at > now() AT TIME ZONE 'UTC'
                    AND last_used_at <= now() AT TIME ZONE 'UTC' - interval '1 minute'
                ORDER BY id FOR UPDATE SKIP LOCKED
            )
            """
        )
    }

    /// Removes sessions that expired a week ago.
    ///
    /// Until then, their clients get an error that says so.
    ///
    /// - Throws: `PostgresError`.
    package func removeExpired() async throws {
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
            createdAt: try row.decode("created_at"),
            lastUsedAt: try row.decode("last_used_at"),
            expiresAt: try row.decode("expires_at")
        )
    }
}
