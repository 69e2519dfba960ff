/// Makes an account.
package struct SignUp: Sendable {
    let users: UserStore
    let codes: CodeStore
    let limiter: RateLimiter
    /// Counts codes.
    let accountLimiter: RateLimiter
    let hasher: PasswordHasher

    private static let emailTaken = ValidationError(.email, .taken)

    /// Checks the data by the contract's rules and adds the account.
    ///
    /// For an account without a password, it sends a code.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - email: The e-mail.
    ///   - password: The password, or none.
    ///   - profile: What others see beside the name.
    ///   - source: Where the request came from.
    /// - Returns: The account.
    /// - Throws: `InvalidInput`, `RateLimitExceeded`, `PostgresError`, `TooBusy`.
    package func callAsFunction(
        name: NewName,
        email: String,
        password: ChosenPassword,
        profile: NewProfile = NewProfile(),
        from source: RequestSource
    ) async throws -> User {
        let caller = source.caller(.unknown(email: email))
        try hasher.requireRoom(for: caller)
        try await limiter.count(LimitedAction.signUp(from: source.address), ofUser: nil, from: source)
        let new = try NewUser(name: name, email: email, password: password, profile: profile)
        // Whether an e-mail has an account is looked up only when all else is valid, and within a limit for each
        // e-mail.
        let counted = try await limiter.count([.signUp(of: new.email)], ofUser: nil, from: source)
        let user = try await limiter.givingBack(
            counted,
            onFailureOf: { () async throws -> User? in
                // Looked up before the costly hash. The insert decides in the end.
                guard try await !users.hasAccount(email: new.email) else { return nil }
                guard let password = new.password else { return try await addWithoutPassword(new, from: source) }
                let hash = try await hasher.hash(password, for: caller)
                return try await users.add(new, passwordHash: hash, from: source)
            }
        )
        guard let user else { throw InvalidInput(validationErrors: [Self.emailTaken]) }
        await limiter.giveBack(counted)
        return user
    }

    private func addWithoutPassword(_ new: NewUser, from source: RequestSource) async throws -> User? {
        let counted = try await accountLimiter.count([.codeOfSignUp(to: new.email)], ofUser: nil, from: source)
        return try await accountLimiter.givingBack(
            counted,
            onFailureOf: {
                let user = try await users.addWithoutPassword(new, codes: codes, from: source)
                if user == nil { await accountLimiter.giveBack(counted) }
                return user
            }
        )
    }
}
