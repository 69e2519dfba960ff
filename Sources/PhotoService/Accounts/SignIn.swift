import FoundationEssentials

/// Begins a session for who knows the password.
struct SignIn: Sendable {
    let users: UserStore
    let sessions: SessionStore
    let hasher: PasswordHasher
    let tokenLifetime: TimeInterval
    let now: @Sendable () -> Date

    /// Checks the password and begins a session; the other sessions are left alone.
    ///
    /// - Parameters:
    ///   - email: The account's e-mail.
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - changesNothing: Whether to answer as if, and leave everything as it is, for a HEAD request.
    /// - Returns: The account and its new token; nil when e-mail or password is wrong, in the same time for both.
    /// - Throws: `PostgresError`, `PasswordHasherError`.
    func callAsFunction(
        email: String,
        password: Password?,
        changesNothing: Bool = false
    ) async throws -> (user: User, issued: IssuedToken)? {
        let user = try await users.find(email: email)
        let isCorrect = try await hasher.verify(password, against: user?.passwordHash)
        guard isCorrect, let user, let password else { return nil }
        var hash = user.passwordHash
        if changesNothing { return (user, IssuedToken(date: now(), lifetime: tokenLifetime)) }
        if hasher.isWeak(hash) {
            let stronger = try await hasher.hash(password)
            if try await users.renewHash(of: user, to: stronger) { hash = stronger }
        }
        return try await begin(for: user, passwordHash: hash)
    }

    /// Begins a session without a password, for callers on a trusted network.
    ///
    /// - Parameters:
    ///   - email: The account's e-mail.
    ///   - changesNothing: Whether to answer as if, and leave everything as it is, for a HEAD request.
    /// - Returns: The account and its new token; nil when there is no such account.
    /// - Throws: `PostgresError`.
    func withoutPassword(
        email: String,
        changesNothing: Bool
    ) async throws -> (user: User, issued: IssuedToken)? {
        guard let user = try await users.find(email: email) else { return nil }
        if changesNothing { return (user, IssuedToken(date: now(), lifetime: tokenLifetime)) }
        return try await begin(for: user, passwordHash: user.passwordHash)
    }

    private func begin(for user: User, passwordHash: String) async throws -> (user: User, issued: IssuedToken)? {
        let issued = IssuedToken(date: now(), lifetime: tokenLifetime)
        let hasBegun = try await sessions.begin(issued, userID: user.id, passwordHash: passwordHash)
        return hasBegun ? (user, issued) : nil
    }
}
