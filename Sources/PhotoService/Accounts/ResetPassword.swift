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
        var hash: String?
        // Each further round follows a change of the hash by another request: a renewal, or a new password.
        while true {
            let user = try await users.find(id: userID)
            guard try await hasher.verify(old, against: user?.passwordHash), let user else { return nil }
            let complaints = Password.complaints(about: new)
            guard complaints.isEmpty, let new else { throw AccountComplaints(password: complaints) }
            let newHash = if let hash { hash } else { try await hasher.hash(new) }
            hash = newHash
            let issued = IssuedToken(date: now(), lifetime: tokenLifetime)
            if try await users.changePassword(of: user, to: newHash, beginning: issued) { return (user, issued) }
        }
    }
}
