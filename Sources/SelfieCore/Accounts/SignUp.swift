/// Makes an account.
package struct SignUp: Sendable {
    let users: UserStore
    let limiter: RateLimiter
    let hasher: PasswordHasher

    private static let emailTaken = Complaint(.email, .taken)

    /// Checks the data by the contract's rules and adds the account.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - email: The e-mail.
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - profile: What others see beside the name.
    ///   - source: Where the request came from.
    /// - Returns: The account.
    /// - Throws: `InvalidInput`, `RateLimitExceeded`, `PostgresError`, `FairLineRefusal`, `PasswordHasherError`.
    package func callAsFunction(
        name: NewName,
        email: String,
        password: Password?,
        profile: NewProfile = NewProfile(),
        from source: RequestSource
    ) async throws -> NewUser {
        let claimant = source.claimant(.unknown(email: email))
        try hasher.requireRoom(for: claimant)
        try await limiter.count(LimitedAction.signUp(from: source.address), ofUser: nil, from: source)
        let user = try await check(email: email) { () throws(InvalidInput) in
            try NewUser(name: name, email: email, password: password, profile: profile)
        }
        let hash = try await hasher.hash(user.password, for: claimant)
        guard try await users.add(user, passwordHash: hash, from: source) else {
            throw InvalidInput(complaints: [Self.emailTaken])
        }
        return user
    }

    /// Checks the data, and looks the e-mail up before the costly hash.
    ///
    /// The insert decides in the end.
    private func check(
        email: String,
        _ make: () throws(InvalidInput) -> NewUser
    ) async throws -> NewUser {
        let user = Result(catching: make)
        var complaints: [Complaint] = if case .failure(let error) = user { error.complaints } else { [] }
        // All complaints come together, in the order of name, e-mail, password and profile.
        if !complaints.contains(where: { $0.field == .email }), try await users.hasAccount(email: email) {
            complaints.insert(
                Self.emailTaken,
                at: complaints.firstIndex { [.password, .title, .fields].contains($0.field) } ?? complaints.endIndex
            )
        }
        guard complaints.isEmpty else { throw InvalidInput(complaints: complaints) }
        return try user.get()
    }
}
