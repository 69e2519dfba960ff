/// Removes an account and all that belongs to it, for who knows its password.
struct DeleteAccount: Sendable {
    let users: UserStore
    let audit: AuditStore
    let limiter: RateLimiter
    let hasher: PasswordHasher

    /// Removes the account.
    ///
    /// - Parameters:
    ///   - session: Whose account.
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - source: Where the request came from.
    /// - Returns: Whether the password was right, and the account is gone.
    /// - Throws: `RateLimitExceeded`, `ServiceError.tokenAccessDenied` when the session has ended, or the account was gone
    ///   or disabled already, `PostgresError`, `PasswordHasherError`.
    func callAsFunction(_ session: Session, password: Password?, from source: RequestSource) async throws -> Bool {
        try hasher.requireRoom()
        var counted = try await limiter.count(
            .passwordOfSession(id: session.id),
            ofUser: session.userID,
            from: source
        )
        let isDeleted = try await delete(session, password: password, counted: &counted)
        if !isDeleted { try await audit.add(.accountDeletionFailed, userID: session.userID, from: source) }
        return isDeleted
    }

    private func delete(
        _ session: Session,
        password: Password?,
        counted: inout CountedActions
    ) async throws -> Bool {
        // Each further round follows a change of the hash by another request: a renewal, or a new password.
        while true {
            let found = try await limiter.givingBack(counted, onFailureOf: { try await users.find(id: session.userID) })
            guard let user = found, !user.isDisabled else { throw ServiceError.tokenAccessDenied }
            let isCorrect = try await limiter.givingBack(&counted) {
                try await hasher.verify(password, against: user.passwordHash)
            }
            guard isCorrect else { return false }
            let isDeleted = try await users.delete(
                userID: session.userID,
                passwordHash: user.passwordHash,
                sessionID: session.id
            )
            if isDeleted { return true }
        }
    }
}
