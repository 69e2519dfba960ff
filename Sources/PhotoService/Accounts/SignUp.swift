/// Makes an account.
struct SignUp: Sendable {
    let users: UserStore
    let limiter: RateLimiter
    let hasher: PasswordHasher

    /// Checks the data by the contract's rules and adds the account.
    ///
    /// - Parameters:
    ///   - fullName: First and last word become the names.
    ///   - email: The e-mail.
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - source: Where the request came from.
    /// - Returns: The account.
    /// - Throws: `AccountComplaints`, `RateLimitExceeded`, `PostgresError`, `PasswordHasherError`.
    func callAsFunction(
        fullName: String,
        email: String,
        password: Password?,
        from source: RequestSource
    ) async throws -> NewUser {
        try hasher.requireRoom()
        try await limiter.count(.signUp(network: source.address.network), ofUser: nil, from: source)
        var complaints = AccountComplaints()
        var user: NewUser?
        do {
            user = try NewUser(fullName: fullName, email: email, password: password)
        } catch {
            complaints = error
        }
        // Looked up before the costly hash, and so that all complaints come at once; the insert has the last word.
        if complaints.email.isEmpty, try await users.hasAccount(email: email) {
            complaints.email = AccountComplaints.emailTaken.email
        }
        guard let user, complaints.isEmpty else { throw complaints }
        let hash = try await hasher.hash(user.password)
        guard try await users.add(user, passwordHash: hash, from: source) else { throw AccountComplaints.emailTaken }
        return user
    }
}
