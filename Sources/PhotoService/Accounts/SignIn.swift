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
        // Each further round follows a change of the hash by another request: a renewal, or a new password.
        while true {
            let user = try await users.find(email: email)
            let isCorrect = try await hasher.verify(password, against: user?.passwordHash)
            guard isCorrect, let user, let password else { return nil }
            let issued = IssuedToken(date: now(), lifetime: tokenLifetime)
            if changesNothing { return (user, issued) }
            var hash = user.passwordHash
            if hasher.isWeak(hash) {
                hash = try await hasher.hash(password)
                guard try await users.renewHash(of: user, to: hash) else { continue }
            }
            if try await sessions.begin(issued, userID: user.id, passwordHash: hash) { return (user, issued) }
        }
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
        while let user = try await users.find(email: email) {
            let issued = IssuedToken(date: now(), lifetime: tokenLifetime)
            if changesNothing { return (user, issued) }
            let hasBegun = try await sessions.begin(issued, userID: user.id, passwordHash: user.passwordHash)
            if hasBegun { return (user, issued) }
        }
        return nil
    }
}
