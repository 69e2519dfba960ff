import FoundationEssentials

/// An attempt to sign in, as the client sent it.
package struct SignInAttempt: Sendable {
    let email: String
    let proof: Proof
    /// The label of the session, for its user.
    let device: String?
    let source: RequestSource
    /// Whether the session lasts until it is ended, or was unused for long.
    let isRemembered: Bool
    /// Whether to check only: no session begins.
    let changesNothing: Bool

    /// What shows that the client may sign in.
    package enum Proof: Sendable {
        /// Nil for one that could not be decrypted.
        case password(Password?)
        case code(String)
        /// Both: the code proves the address, and the password stays.
        case passwordAndCode(Password?, String)
        /// None, where `get_token` needs none.
        case none
    }

    /// - Parameters:
    ///   - email: The e-mail, as the client sent it.
    ///   - proof: What shows that the client may sign in.
    ///   - device: The label of the session, for its user.
    ///   - source: Where the request came from.
    ///   - isRemembered: Whether the session lasts until it is ended, or was unused for long.
    ///   - changesNothing: Whether to check only: no session begins.
    package init(
        email: String,
        proof: Proof,
        device: String?,
        source: RequestSource,
        isRemembered: Bool,
        changesNothing: Bool
    ) {
        self.email = email
        self.proof = proof
        self.device = device
        self.source = source
        self.isRemembered = isRemembered
        self.changesNothing = changesNothing
    }
}

/// Begins a session for a user who gives the password or a code.
package struct SignIn: Sendable {
    let users: UserStore
    let sessions: SessionStore
    let audit: AuditStore
    let check: PasswordCheck
    let codeCheck: CodeCheck
    let hasher: PasswordHasher
    let lifetimes: SessionLifetimes
    let now: @Sendable () -> Date
    /// Whether an address must have been proven.
    let needsProvenEmail: Bool

    /// Checks the password or the code, and begins a session.
    ///
    /// Other sessions stay valid.
    ///
    /// - Parameter attempt: What was sent.
    /// - Returns: The account and its new token; nil when e-mail or password is wrong. Both take the same time.
    /// - Throws: `RateLimitExceeded`, `CodeError.invalid`, `AccountError` if password or code are right, `PostgresError`,
    ///   `TooBusy`.
    package func callAsFunction(_ attempt: SignInAttempt) async throws -> (user: User, issued: IssuedToken)? {
        switch attempt.proof {
        case .password(let password): try await byPassword(password, attempt, thenCode: nil)
        case .passwordAndCode(let password, let code): try await byPassword(password, attempt, thenCode: code)
        case .code(let code): try await byCode(code, attempt, hasPassword: false)
        case .none: try await withoutPassword(attempt)
        }
    }

    private func byPassword(
        _ password: Password?,
        _ attempt: SignInAttempt,
        thenCode code: String?
    ) async throws -> (user: User, issued: IssuedToken)? {
        // Checked before the database is asked.
        let account = AccountName.unknown(email: attempt.email)
        try check.requireRoom(for: account, from: attempt.source)
        let found = try await users.find(email: attempt.email, from: attempt.source.address.network)
        return try await check(
            password,
            for: PasswordCheck.Purpose(
                account: account,
                actions: Self.actions(attempt, of: found),
                failure: .signInFailed,
                userID: found?.user.id,
                source: attempt.source
            ),
            find: { isAgain in
                guard isAgain else { return found?.user }
                return try await users.find(email: attempt.email, from: attempt.source.address.network)?.user
            },
            use: { user, password in
                guard !user.isDisabled else {
                    try await audit.add(.signInFailed, userID: user.id, from: attempt.source)
                    throw AccountError.disabled
                }
                if let code { return try await byCode(code, attempt, hasPassword: true) }
                try requireProvenEmail(of: user)
                if attempt.changesNothing {
                    try await audit.add(.passwordChecked, userID: user.id, from: attempt.source)
                }
                return try await begin(attempt, user: user, password: password).map { (user, $0) }
            }
        )
    }

    /// Begins a session without a password, for callers on a trusted network.
    ///
    /// - Parameter attempt: What was sent.
    /// - Returns: The account and its new token; nil when there is no such account.
    /// - Throws: `AccountError.disabled`, `PostgresError`.
    private func withoutPassword(_ attempt: SignInAttempt) async throws -> (user: User, issued: IssuedToken)? {
        while let (user, _) = try await users.find(email: attempt.email, from: attempt.source.address.network) {
            guard !user.isDisabled else { throw AccountError.disabled }
            guard user.hasPassword || user.isEmailProven else { throw AccountError.emailUnverified }
            try requireProvenEmail(of: user)
            if let issued = try await begin(attempt, user: user, passwordHash: user.passwordHash) {
                return (user, issued)
            }
        }
        return nil
    }

    private func byCode(
        _ code: String,
        _ attempt: SignInAttempt,
        hasPassword: Bool
    ) async throws -> (user: User, issued: IssuedToken) {
        let found = try await users.find(email: attempt.email, from: attempt.source.address.network)
        let account = FoundAccount(
            user: found?.user,
            email: found?.user.email ?? attempt.email,
            otherwise: .unknown(email: attempt.email),
            isKnownNetwork: found?.isKnownNetwork ?? false
        )
        return try await codeCheck(.init(code, for: .signIn, of: account, from: attempt.source)) { code in
            guard let user = account.user else { return nil }
            guard !user.isDisabled else {
                try await audit.add(.signInFailed, userID: user.id, from: attempt.source)
                throw AccountError.disabled
            }
            let issued = issue(attempt)
            if attempt.changesNothing { return (user, issued) }
            let signedIn = try await users.signIn(
                user,
                by: UserStore.CodeSignIn(
                    code: code,
                    issued: issued,
                    device: attempt.device,
                    source: attempt.source,
                    keepsPassword: hasPassword || account.isKnownNetwork
                ),
                sessions: sessions
            )
            return signedIn.map { ($0, issued) }
        }
    }

    private func requireProvenEmail(of user: User) throws(AccountError) {
        if needsProvenEmail, !user.isEmailProven { throw .emailUnverified }
    }

    private func issue(_ attempt: SignInAttempt) -> IssuedToken {
        IssuedToken(date: now(), lifetime: attempt.isRemembered ? lifetimes.remembered : lifetimes.usual)
    }

    /// The actions that a password attempt counts as.
    ///
    /// Attempts from a network that the user signed in from before are counted separately. So clients elsewhere can't
    /// lock the user out.
    private static func actions(
        _ attempt: SignInAttempt,
        of found: (user: User, isKnownNetwork: Bool)?
    ) -> [LimitedAction] {
        let network = attempt.source.address.network
        if let found, found.isKnownNetwork {
            return [.passwordFromKnownNetwork(userID: found.user.id, network: network)]
        }
        let name: AccountName = found.map { .user(id: $0.user.id) } ?? .unknown(email: attempt.email)
        // The address comes first: a refused address must not use up an account's attempts.
        return LimitedAction.signIn(from: attempt.source.address) + [.password(name)]
    }

    private func begin(_ attempt: SignInAttempt, user: User, password: Password) async throws -> IssuedToken? {
        var hash = user.passwordHash
        if hasher.isWeak(hash), !attempt.changesNothing {
            hash = try await hasher.hash(password, for: attempt.source.caller(.unknown(email: attempt.email)))
            guard try await users.renewHash(of: user, to: hash) else { return nil }
        }
        return try await begin(attempt, user: user, passwordHash: hash)
    }

    private func begin(_ attempt: SignInAttempt, user: User, passwordHash: String) async throws -> IssuedToken? {
        let issued = issue(attempt)
        if attempt.changesNothing { return issued }
        let hasBegun = try await sessions.begin(
            issued,
            of: user,
            passwordHash: passwordHash,
            device: attempt.device,
            from: attempt.source
        )
        return hasBegun ? issued : nil
    }
}
