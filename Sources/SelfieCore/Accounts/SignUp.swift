/// Makes an account.
package struct SignUp: Sendable {
    let users: UserStore
    let limiter: RateLimiter
    let hasher: PasswordHasher

    private static let emailTaken = Complaint(.email, .taken)

    /// Checks the data by the contract's rules and adds the account.
    ///
    /// - Parameters:
    ///   - fullName: First and last word become the names.
    ///   - email: The e-mail.
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - source: Where the request came from.
    /// - Returns: The account.
    /// - Throws: `InvalidInput`, `RateLimitExceeded`, `PostgresError`, `FairLineRefusal`, `PasswordHasherError`.
    package func callAsFunction(
        fullName: String,
        email: String,
        password: Password?,
        from source: RequestSource
    ) async throws -> NewUser {
        let claimant = source.claimant(.unknown(email: email))
        try hasher.requireRoom(for: claimant)
        try await limiter.count(LimitedAction.signUp(from: source.address), ofUser: nil, from: source)
        let user = try await check(fullName: fullName, email: email, password: password)
        let hash = try await hasher.hash(user.password, for: claimant)
        guard try await users.add(user, passwordHash: hash, from: source) else {
            throw InvalidInput(complaints: [Self.emailTaken])
        }
        return user
    }

    /// Checks the data, and looks the e-mail up before the costly hash.
    ///
    /// The insert decides in the end.
    private func check(fullName: String, email: String, password: Password?) async throws -> NewUser {
        let user = Result { () throws(InvalidInput) in
            try NewUser(fullName: fullName, email: email, password: password)
        }
        var complaints: [Complaint] = if case .failure(let error) = user { error.complaints } else { [] }
        // All complaints come together, in the order of name, e-mail and password.
        if !complaints.contains(where: { $0.field == .email }), try await users.hasAccount(email: email) {
            complaints.insert(
                Self.emailTaken,
                at: complaints.firstIndex { $0.field == .password } ?? complaints.endIndex
            )
        }
        guard complaints.isEmpty else { throw InvalidInput(complaints: complaints) }
        return try user.get()
    }
}
