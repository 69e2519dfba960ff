import Encodings
package import FoundationEssentials
import JSON
package import Postgres

/// The table `users`.
package struct UserStore: Sendable {
    let postgres: PostgresClient
    let notifier: ChangeNotifier?
    /// Nil where no mail is sent.
    let notices: Notices?

    /// - Parameters:
    ///   - postgres: The database.
    ///   - notifier: Notifies readers of changes; with nil, they see them within ten seconds.
    ///   - notices: Tells users of what was done to their accounts; nil where no mail is sent.
    package init(postgres: PostgresClient, notifier: ChangeNotifier? = nil, notices: Notices? = nil) {
        (self.postgres, self.notifier, self.notices) = (postgres, notifier, notices)
    }

    /// The account with an e-mail.
    ///
    /// Upper and lower case are the same.
    ///
    /// - Parameters:
    ///   - email: The e-mail.
    ///   - network: The network of the request.
    /// - Returns: The account, and whether its user has signed in from there before; nil when there is none.
    /// - Throws: `PostgresError`.
    func find(email: String, from network: String) async throws -> (user: User, isKnownNetwork: Bool)? {
        // PostgreSQL's text can't hold NUL, so no account has one.
        guard !email.utf8.contains(0) else { return nil }
        let row = try await postgres.lookUp(Self.byEmail, key: Array(email.trimmingWhitespace().utf8))
        return try row.map { (try User($0), try $0.decode("networks", as: [String].self).contains(network)) }
    }

    /// Looked up in one statement with others: each attempt looks up, even one that is refused afterwards.
    static let byEmail = PostgresLookup(
        columns: "\(User.columns), ARRAY(SELECT network FROM known_addresses WHERE user_id = users.id) AS networks",
        source: "FROM users WHERE lower(btrim(email)) = lower(convert_from(asked.key, 'UTF8') COLLATE \"default\")"
    )

    /// Whether an e-mail has an account, or had one a short time ago that its owner may take back.
    func hasAccount(email: String) async throws -> Bool {
        let rows = try await postgres.read(
            """
            SELECT FROM users WHERE lower(btrim(email)) = lower(\(email.trimmingWhitespace()))
            UNION ALL SELECT FROM former_emails WHERE lower(btrim(email)) = lower(\(email.trimmingWhitespace()))
                AND ends_at > now() AT TIME ZONE 'UTC'
            """
        )
        return !rows.isEmpty
    }

    /// The account with an id.
    package func find(id: Int) async throws -> User? {
        let rows = try await postgres.read(
            """
            SELECT \(part: PostgresQuery(stringLiteral: User.columns)) FROM users WHERE id = \(id)
            """
        )
        return try rows.first.map(User.init)
    }

    /// When an account was made.
    ///
    /// - Parameter id: The account's id.
    /// - Returns: The time; nil when it is not known, or there is no such account.
    /// - Throws: `PostgresError`.
    package func creationTime(ofUser id: Int) async throws -> Date? {
        try await postgres.read("SELECT created_at FROM users WHERE id = \(id)").first?.decodeIfPresent("created_at")
    }

    /// Adds an account.
    ///
    /// Of parallel calls with one e-mail, one succeeds.
    ///
    /// - Parameters:
    ///   - user: The account.
    ///   - passwordHash: The hash of its password.
    ///   - source: Where the request came from. Its network is known as the user's from then on.
    /// - Returns: The account; nil when the e-mail has one already.
    /// - Throws: `PostgresError`.
    func add(_ user: NewUser, passwordHash: String, from source: RequestSource) async throws -> User? {
        try await postgres.withConnection { connection in
            try await Self.add(user, passwordHash: passwordHash, from: source, on: connection)
        }
    }

    /// Adds an account without a password, and sends a code for signing in, in one transaction.
    ///
    /// The account goes after a day, unless its address is proven.
    func addWithoutPassword(_ new: NewUser, codes: CodeStore, from source: RequestSource) async throws -> User? {
        let user = try await postgres.withTransaction { connection -> User? in
            let user = try await Self.add(new, passwordHash: nil, from: source, on: connection)
            guard let user else { return nil }
            let receiver = CodeReceiver(account: .user(id: user.id), userID: user.id)
            try await codes.send(.signIn, to: receiver, on: connection)
            return user
        }
        if user != nil { notifier?.notify([.deliveries]) }
        return user
    }

    private static func add(
        _ user: NewUser,
        passwordHash: String?,
        from source: RequestSource,
        on connection: PostgresConnection
    ) async throws -> User? {
        let query: PostgresQuery = """
            WITH added AS (
                INSERT INTO users (first_name, last_name, email, password_hash, title, profile, provisional_until)
                VALUES (
                    \(user.firstName), \(user.lastName), \(user.email), \(passwordHash ?? User.noPasswordHash), \(user.title),
                    \(PostgresJSON(utf8: Array(user.fields.text.utf8))),
                    CASE WHEN \(passwordHash)::text IS NULL
                        THEN now() AT TIME ZONE 'UTC' + make_interval(hours => \(provisionalHours)::integer) END
                )
                ON CONFLICT (lower(btrim(email))) DO NOTHING
                RETURNING \(part: PostgresQuery(stringLiteral: User.columns))
            ), known AS (
                \(part: KnownAddressStore.insertion(of: source.address.network, forEach: "SELECT id FROM added"))
            ), audited AS (
                \(part: AuditStore.insertion(of: .signUp, from: source, forEach: "SELECT id FROM added"))
            )
            SELECT * FROM added
            """
        return try await connection.query(query).first.map(User.init)
    }

    /// For how long an account without a password waits for a proof of its address.
    private static let provisionalHours = 24

    /// Replaces the hash of a password with a stronger one.
    ///
    /// - Returns: Whether it was replaced; false when the password was changed meanwhile.
    /// - Throws: `PostgresError`.
    func renewHash(of user: User, to hash: String) async throws -> Bool {
        let count = try await postgres.write(
            """
            UPDATE users SET password_hash = \(hash), updated_at = now() AT TIME ZONE 'UTC'
            WHERE id = \(user.id) AND password_hash = \(user.passwordHash)
            """
        )
        return count == 1
    }

    /// Changes the password, ends all sessions and photos' URLs, and begins a new session, in one transaction.
    ///
    /// - Parameters:
    ///   - user: The account, with the hash that the old password was checked against.
    ///   - hash: The new password's hash.
    ///   - sessionID: The session of the request.
    ///   - issued: The new session's token.
    ///   - device: The label of the new session, for its user.
    ///   - source: Where the request came from.
    /// - Returns: Whether it was changed. False when the password was changed or the account was disabled meanwhile.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PostgresError`.
    func changePassword(
        of user: User,
        to hash: String,
        by sessionID: Int,
        beginning issued: IssuedToken,
        device: String?,
        from source: RequestSource
    ) async throws -> Bool {
        let isChanged = try await postgres.withTransaction { connection in
            let count = try await connection.execute(
                """
                UPDATE users SET password_hash = \(hash), updated_at = now() AT TIME ZONE 'UTC'
                WHERE id = \(user.id) AND password_hash = \(user.passwordHash) AND disabled_at IS NULL
                """
            )
            guard count == 1 else { return false }
            try await PhotoLibrary.endURLs(ofUser: user.id, on: connection)
            try await SessionStore.endAll(ofUser: user.id, by: sessionID, on: connection)
            // An attacker elsewhere may know the old password. So only the network of this request stays known.
            try await KnownAddressStore.keepOnly(source.address.network, ofUser: user.id, on: connection)
            try await SessionStore.begin(issued, userID: user.id, device: device, on: connection)
            // An attacker may have asked for one.
            try await CodeStore.removeAll(ofUser: user.id, on: connection)
            let event = try await AuditStore.add(.passwordReset, userID: user.id, from: source, on: connection)
            try await notices?.tell(.passwordChanged, to: user.email, of: event, on: connection)
            return true
        }
        if isChanged { notifier?.notify([.user(user.id), .deliveries]) }
        return isChanged
    }

    /// Ends all sessions of a user, and invalidates all issued URLs of photos, in one transaction.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - sessionID: The session of the request.
    ///   - source: Where the request came from.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PostgresError`.
    func clearTokens(ofUser id: Int, by sessionID: Int, from source: RequestSource) async throws {
        try await postgres.withTransaction { connection in
            // Parallel calls wait here, so that they do not wait for each other's sessions.
            let user = try await connection.query("SELECT FROM users WHERE id = \(id) FOR NO KEY UPDATE")
            // The account was deleted meanwhile.
            guard !user.isEmpty else { throw SessionError.ended }
            try await CodeStore.removeAll(ofUser: id, on: connection)
            try await PhotoLibrary.endURLs(ofUser: id, on: connection)
            try await SessionStore.endAll(ofUser: id, by: sessionID, on: connection)
            try await AuditStore.add(.allTokensCleared, userID: id, from: source, on: connection)
        }
        notifier?.notify([.user(id)])
    }

    /// Disables an account.
    ///
    /// Its sessions end at once, and no other begins.
    ///
    /// - Parameter id: The account's id.
    /// - Returns: Whether it was not disabled before.
    /// - Throws: `PostgresError`.
    package func disable(id: Int) async throws -> Bool {
        try await postgres.withTransaction { connection in
            let count = try await connection.execute(
                """
                UPDATE users SET disabled_at = now() AT TIME ZONE 'UTC' WHERE id = \(id) AND disabled_at IS NULL
                """
            )
            guard count == 1 else { return false }
            try await CodeStore.removeAll(ofUser: id, on: connection)
            try await PhotoLibrary.endURLs(ofUser: id, on: connection)
            try await SessionStore.endAll(ofUser: id, by: nil, on: connection)
            try await AuditStore.add(.accountDisabled, userID: id, from: nil, on: connection)
            return true
        }
    }

    /// Enables a disabled account, unless it is being deleted.
    ///
    /// Its user must sign in again.
    ///
    /// - Parameter id: The account's id.
    /// - Returns: Whether it was disabled before.
    /// - Throws: `PostgresError`.
    package func enable(id: Int) async throws -> Bool {
        try await postgres.withTransaction { connection in
            let count = try await connection.execute(
                """
                UPDATE users SET disabled_at = NULL WHERE id = \(id) AND disabled_at IS NOT NULL AND leaving_since IS NULL
                """
            )
            guard count == 1 else { return false }
            try await AuditStore.add(.accountEnabled, userID: id, from: nil, on: connection)
            return true
        }
    }
}

extension User {
    /// What a statement selects.
    static let columns = """
        id, first_name, last_name, email, member_id, password_hash, disabled_at IS NOT NULL AS is_disabled,
        email_verified_at IS NOT NULL AS is_email_proven, \(EmailState.column)
        """

    init(_ row: PostgresRow) throws {
        self.init(
            id: try row.decode("id"),
            firstName: try row.decode("first_name"),
            lastName: try row.decode("last_name"),
            email: try row.decode("email"),
            memberID: try row.decode("member_id"),
            passwordHash: try row.decode("password_hash"),
            isDisabled: try row.decode("is_disabled"),
            emailState: EmailState(rawValue: try row.decode("email_state")) ?? .unverified,
            isEmailProven: try row.decode("is_email_proven")
        )
    }
}
