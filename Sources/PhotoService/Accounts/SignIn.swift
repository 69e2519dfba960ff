import FoundationEssentials

/// A try to sign in, as it was sent.
struct SignInAttempt: Sendable {
    let email: String
    /// Nil for one that could not be decrypted.
    let password: Password?
    /// What the user is to recognise the session by.
    let device: String?
    let source: RequestSource
    /// Whether to answer as if, and leave everything as it is, for a HEAD request.
    let changesNothing: Bool
}

/// Begins a session for who knows the password.
struct SignIn: Sendable {
    let users: UserStore
    let sessions: SessionStore
    let audit: AuditStore
    let limiter: RateLimiter
    let hasher: PasswordHasher
    let tokenLifetime: TimeInterval
    let now: @Sendable () -> Date

    /// Checks the password and begins a session; the other sessions are left alone.
    ///
    /// - Parameter attempt: What was sent.
    /// - Returns: The account and its new token; nil when e-mail or password is wrong, in the same time for both.
    /// - Throws: `RateLimitExceeded`, `ServiceError.accountDisabled` to who knows the password, `PostgresError`,
    ///   `PasswordHasherError`.
    func callAsFunction(_ attempt: SignInAttempt) async throws -> (user: User, issued: IssuedToken)? {
        try hasher.requireRoom()
        let found = try await users.find(email: attempt.email, from: attempt.source.address.network)
        var counted = try await count(attempt, of: found)
        let begun = try await begin(attempt, found: found, counted: &counted)
        if begun == nil { try await audit.add(.signInFailed, userID: found?.user.id, from: attempt.source) }
        return begun
    }

    private func begin(
        _ attempt: SignInAttempt,
        found: (user: User, isKnownNetwork: Bool)?,
        counted: inout CountedActions
    ) async throws -> (user: User, issued: IssuedToken)? {
        var found = found
        // Each further round follows a change of the hash by another request: a renewal, or a new password.
        while true {
            let user = found?.user
            let isCorrect = try await limiter.givingBack(&counted) {
                try await hasher.verify(attempt.password, against: user?.passwordHash)
            }
            guard isCorrect, let user, let password = attempt.password else { return nil }
            guard !user.isDisabled else {
                try await audit.add(.signInFailed, userID: user.id, from: attempt.source)
                throw ServiceError.accountDisabled
            }
            if let issued = try await begin(attempt, user: user, password: password) { return (user, issued) }
            found = try await users.find(email: attempt.email, from: attempt.source.address.network)
        }
    }

    /// Begins a session without a password, for callers on a trusted network.
    ///
    /// - Parameter attempt: What was sent.
    /// - Returns: The account and its new token; nil when there is no such account.
    /// - Throws: `ServiceError.accountDisabled`, `PostgresError`.
    func withoutPassword(_ attempt: SignInAttempt) async throws -> (user: User, issued: IssuedToken)? {
        while let (user, _) = try await users.find(email: attempt.email, from: attempt.source.address.network) {
            guard !user.isDisabled else { throw ServiceError.accountDisabled }
            if let issued = try await begin(attempt, user: user, passwordHash: user.passwordHash) {
                return (user, issued)
            }
        }
        return nil
    }

    /// Counts a password that is about to be tried, as wrong until it turns out to be right.
    ///
    /// Who has signed in from the same network before is counted apart, so that nobody elsewhere can lock them out.
    private func count(
        _ attempt: SignInAttempt,
        of found: (user: User, isKnownNetwork: Bool)?
    ) async throws -> CountedActions {
        let (network, userID) = (attempt.source.address.network, found?.user.id)
        if let found, found.isKnownNetwork {
            return try await limiter.count(
                .passwordFromKnownNetwork(userID: found.user.id, network: network),
                ofUser: userID,
                from: attempt.source
            )
        }
        let name: AccountName = userID.map { .user(id: $0) } ?? .unknown(email: attempt.email)
        // The address first: one that is refused anyway must not use up what an account has.
        return try await limiter.count(
            .signIn(network: network),
            .password(name),
            ofUser: userID,
            from: attempt.source
        )
    }

    private func begin(_ attempt: SignInAttempt, user: User, password: Password) async throws -> IssuedToken? {
        var hash = user.passwordHash
        if hasher.isWeak(hash), !attempt.changesNothing {
            hash = try await hasher.hash(password)
            guard try await users.renewHash(of: user, to: hash) else { return nil }
        }
        return try await begin(attempt, user: user, passwordHash: hash)
    }

    private func begin(_ attempt: SignInAttempt, user: User, passwordHash: String) async throws -> IssuedToken? {
        let issued = IssuedToken(date: now(), lifetime: tokenLifetime)
        if attempt.changesNothing { return issued }
        let hasBegun = try await sessions.begin(
            issued,
            userID: user.id,
            passwordHash: passwordHash,
            device: attempt.device,
            from: attempt.source
        )
        return hasBegun ? issued : nil
    }
}
