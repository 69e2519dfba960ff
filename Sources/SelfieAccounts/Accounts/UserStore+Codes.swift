import Postgres

/// What users do with codes.
///
/// Each uses its code up in its transaction, after it has locked the user. So of parallel calls one succeeds.
extension UserStore {
    /// A user, whose row stays locked until the transaction ends.
    static func lock(_ id: Int, on connection: PostgresConnection) async throws -> User? {
        try await connection.query(
            """
            SELECT \(part: PostgresQuery(stringLiteral: User.columns)) FROM users WHERE id = \(id) FOR NO KEY UPDATE
            """
        ).first.map { try User($0) }
    }

    /// A sign-in with a code.
    struct CodeSignIn: Sendable {
        let code: WaitingCode
        let issued: IssuedToken
        let device: String?
        let source: RequestSource
        /// Whether the account may keep its password and sessions, though its address was not proven before.
        ///
        /// Somebody else may have made the account with this address.
        let keepsPassword: Bool
    }

    /// Begins a session with a code, which proves the address.
    ///
    /// - Returns: The account; nil when the code was used, or the account was disabled, meanwhile.
    /// - Throws: `PostgresError`.
    func signIn(_ user: User, by signIn: CodeSignIn, sessions: SessionStore) async throws -> User? {
        let id = user.id
        var begun: SessionStore.Begun?
        var signedIn: User?
        var hasEndedPassword = false
        try await postgres.withTransaction { connection in
            guard let present = try await Self.lock(id, on: connection), !present.isDisabled,
                try await CodeStore.use(signIn.code, ofUser: id, on: connection)
            else { return }
            if !present.isEmailProven, !signIn.keepsPassword {
                try await endPassword(of: present, from: signIn.source, on: connection)
                hasEndedPassword = present.hasPassword
            }
            try await EmailStore.prove(id, on: connection)
            begun = try await sessions.begin(
                signIn.issued,
                of: present,
                owner: "SELECT \(id)::bigint",
                device: signIn.device,
                from: signIn.source,
                on: connection
            )
            signedIn = try await Self.lock(id, on: connection)
        }
        guard let begun, begun.hasBegun else { return nil }
        if hasEndedPassword { notifier?.notify([.user(id), .deliveries]) }
        sessions.notify(of: begun, user)
        return signedIn
    }

    /// Ends the password, all sessions and photos' URLs of an account whose address was not proven until now.
    private func endPassword(
        of user: User,
        from source: RequestSource,
        on connection: PostgresConnection
    ) async throws {
        try await PhotoLibrary.endURLs(ofUser: user.id, on: connection)
        try await SessionStore.endAll(ofUser: user.id, by: nil, on: connection)
        try await KnownAddressStore.forgetAll(ofUser: user.id, on: connection)
        try await CodeStore.removeAll(ofUser: user.id, on: connection)
        guard user.hasPassword else { return }
        try await connection.execute(
            "UPDATE users SET password_hash = \(User.noPasswordHash) WHERE id = \(user.id)"
        )
        let event = try await AuditStore.add(.passwordEnded, userID: user.id, from: source, on: connection)
        try await notices?.tell(.passwordEnded, to: user.email, of: event, on: connection)
    }

    /// A new password, with a code instead of the old one.
    struct CodeRecovery: Sendable {
        let code: WaitingCode
        /// The former address that the code was sent to; nil for the present one.
        let formerEmail: String?
        let passwordHash: String
        let issued: IssuedToken
        let device: String?
        let source: RequestSource
    }

    /// Replaces the password, ends all sessions and photos' URLs, and begins a new session.
    ///
    /// With a code that was sent to a former address, that becomes the account's address again.
    ///
    /// - Returns: The account; nil when the code was used, or the account was disabled, meanwhile.
    /// - Throws: `InvalidInput` when another account has proven the former address meanwhile, `PostgresError`.
    func recover(_ id: Int, by recovery: CodeRecovery) async throws -> User? {
        let recovered = try await withTakenEmail {
            try await postgres.withTransaction { connection -> User? in
                guard let user = try await Self.lock(id, on: connection), !user.isDisabled,
                    try await CodeStore.use(recovery.code, ofUser: id, on: connection)
                else { return nil }
                try await connection.execute(
                    """
                    UPDATE users SET password_hash = \(recovery.passwordHash), updated_at = now() AT TIME ZONE 'UTC'
                    WHERE id = \(id)
                    """
                )
                if let email = recovery.formerEmail {
                    try await EmailStore.forgetFormer(after: email, ofUser: id, on: connection)
                    try await EmailStore.change(
                        to: email,
                        from: (user.email, isProven: false),
                        ofUser: id,
                        isProven: true,
                        on: connection
                    )
                    let event = try await AuditStore.add(
                        .emailChanged,
                        userID: id,
                        from: recovery.source,
                        on: connection
                    )
                    try await notices?.tell(.emailRemoved, to: user.email, of: event, on: connection)
                } else {
                    try await EmailStore.prove(id, on: connection)
                }
                try await CodeStore.removeAll(ofUser: id, on: connection)
                try await PhotoLibrary.endURLs(ofUser: id, on: connection)
                try await SessionStore.endAll(ofUser: id, by: nil, on: connection)
                try await KnownAddressStore.keepOnly(recovery.source.address.network, ofUser: id, on: connection)
                try await SessionStore.begin(
                    recovery.issued,
                    userID: id,
                    device: recovery.device,
                    on: connection
                )
                let event = try await AuditStore.add(
                    .passwordRecovered,
                    userID: id,
                    from: recovery.source,
                    on: connection
                )
                let email = recovery.formerEmail ?? user.email
                try await notices?.tell(.passwordChanged, to: email, of: event, on: connection)
                return try await Self.lock(id, on: connection)
            }
        }
        if recovered != nil { notifier?.notify([.user(id), .deliveries]) }
        return recovered
    }

    /// Gives an account without a password its first one.
    ///
    /// - Returns: The account; nil when the code was used, or the account got a password, meanwhile.
    /// - Throws: `PostgresError`.
    func setFirstPassword(
        _ hash: String,
        ofUser id: Int,
        by code: WaitingCode,
        from source: RequestSource
    ) async throws -> User? {
        let user = try await postgres.withTransaction { connection -> User? in
            guard let user = try await Self.lock(id, on: connection), !user.isDisabled, !user.hasPassword,
                try await CodeStore.use(code, ofUser: id, on: connection)
            else { return nil }
            try await connection.execute(
                "UPDATE users SET password_hash = \(hash), updated_at = now() AT TIME ZONE 'UTC' WHERE id = \(id)"
            )
            try await EmailStore.prove(id, on: connection)
            let event = try await AuditStore.add(.passwordSet, userID: id, from: source, on: connection)
            try await notices?.tell(.passwordChanged, to: user.email, of: event, on: connection)
            return try await Self.lock(id, on: connection)
        }
        if user != nil { notifier?.notify([.deliveries]) }
        return user
    }

    /// Gives an account the address that a code proves, or notes that its present one is proven.
    ///
    /// - Returns: The account; nil when the code was used, or the account was disabled, meanwhile.
    /// - Throws: `InvalidInput` when another account has proven the address, `PostgresError`.
    func confirmEmail(_ email: String, ofUser id: Int, by code: WaitingCode, from source: RequestSource) async throws
        -> User?
    {
        let user = try await withTakenEmail {
            try await postgres.withTransaction { connection -> User? in
                guard let user = try await Self.lock(id, on: connection), !user.isDisabled,
                    try await CodeStore.use(code, ofUser: id, on: connection)
                else { return nil }
                if normalized(email) == normalized(user.email) {
                    try await EmailStore.prove(id, on: connection)
                    try await AuditStore.add(.emailVerified, userID: id, from: source, on: connection)
                } else {
                    try await replaceEmail(of: user, by: email, isProven: true, from: source, on: connection)
                }
                return try await Self.lock(id, on: connection)
            }
        }
        if user != nil { notifier?.notify([.user(id), .deliveries]) }
        return user
    }

    /// Asks for a code to a new address, and tells the present one.
    ///
    /// - Parameters:
    ///   - email: The address to prove.
    ///   - user: The account.
    ///   - code: A code that is used up for it; nil where a password was checked.
    ///   - codes: Where codes are.
    ///   - source: Where the request came from.
    /// - Returns: Whether it was asked for. False when the code was used, or the password was changed, meanwhile.
    /// - Throws: `PostgresError`.
    func beginEmailChange(
        to email: String,
        of user: User,
        by code: WaitingCode?,
        codes: CodeStore,
        from source: RequestSource
    ) async throws -> Bool {
        let hasBegun = try await postgres.withTransaction { connection in
            guard let present = try await Self.lock(user.id, on: connection), !present.isDisabled,
                present.passwordHash == user.passwordHash
            else { return false }
            if let code, try await !CodeStore.use(code, ofUser: user.id, on: connection) { return false }
            let receiver = CodeReceiver(account: .user(id: user.id), userID: user.id, email: email)
            try await codes.send(.email, to: receiver, on: connection)
            let event = try await AuditStore.add(
                .emailChangeRequested,
                userID: user.id,
                from: source,
                on: connection
            )
            if normalized(email) != normalized(present.email) {
                try await notices?.tell(.emailChangeBegun, to: present.email, of: event, on: connection)
            }
            return true
        }
        if hasBegun { notifier?.notify([.deliveries]) }
        return hasBegun
    }

    /// Runs a change of an address, and names the rule that another account with it breaks.
    func withTakenEmail<Result>(_ change: () async throws -> Result) async throws -> Result {
        do {
            return try await change()
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            throw InvalidInput(validationErrors: [ValidationError(.email, .taken)])
        }
    }
}
