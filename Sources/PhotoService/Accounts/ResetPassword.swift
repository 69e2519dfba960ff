import FoundationEssentials

/// Changes a password, for who knows the old one.
struct ResetPassword: Sendable {
    let users: UserStore
    let hasher: PasswordHasher
    let tokenLifetime: TimeInterval
    let now: @Sendable () -> Date

    /// Changes the password, ends all sessions and begins a new one.
    ///
    /// - Parameters:
    ///   - userID: Whose password.
    ///   - old: The old password; nil for one that could not be decrypted.
    ///   - new: The new password; nil for one that could not be decrypted.
    /// - Returns: The account and its new token; nil when the old password is wrong.
    /// - Throws: `AccountComplaints` about the new password, `PostgresError`, `PasswordHasherError`.
    func callAsFunction(
        userID: Int,
        old: Password?,
        new: Password?
    ) async throws -> (user: User, issued: IssuedToken)? {
        let user = try await users.find(id: userID)
        guard try await hasher.verify(old, against: user?.passwordHash), let user else { return nil }
        let complaints = Password.complaints(about: new)
        guard complaints.isEmpty, let new else { throw AccountComplaints(password: complaints) }
        let hash = try await hasher.hash(new)
        let issued = IssuedToken(date: now(), lifetime: tokenLifetime)
        let isChanged = try await users.changePassword(of: user, to: hash, beginning: issued)
        return isChanged ? (user, issued) : nil
    }
}
