import FoundationEssentials

/// Changes a password, for who knows the old one.
struct ResetPassword: Sendable {
    let users: UserStore
    let audit: AuditStore
    let limiter: RateLimiter
    let hasher: PasswordHasher
    let tokenLifetime: TimeInterval
    let now: @Sendable () -> Date

    /// Changes the password, ends all sessions and begins a new one.
    ///
    /// - Parameters:
    ///   - session: Whose password.
    ///   - old: The old password; nil for one that could not be decrypted.
    ///   - new: The new password; nil for one that could not be decrypted.
    ///   - device: What the user is to recognise the new session by.
    ///   - source: Where the request came from.
    /// - Returns: The account and its new token; nil when the old password is wrong.
    /// - Throws: `AccountComplaints` about the new password, `RateLimitExceeded`, `ServiceError.tokenAccessDenied` when
    ///   the session has ended or the account is disabled by now, `PostgresError`, `PasswordHasherError`.
    func callAsFunction(
        _ session: Session,
        old: Password?,
        new: Password?,
        device: String?,
        from source: RequestSource
    ) async throws -> (user: User, issued: IssuedToken)? {
        try hasher.requireRoom()
        var counted = try await limiter.count(
            .passwordOfSession(id: session.id),
            ofUser: session.userID,
            from: source
        )
        let changed = try await change(session, old: old, new: new, device: device, from: source, counted: &counted)
        if changed == nil { try await audit.add(.passwordResetFailed, userID: session.userID, from: source) }
        return changed
    }

    private func change(
        _ session: Session,
        old: Password?,
        new: Password?,
        device: String?,
        from source: RequestSource,
        counted: inout CountedActions
    ) async throws -> (user: User, issued: IssuedToken)? {
        var hash: String?
        // Each further round follows a change of the hash by another request: a renewal, or a new password.
        while true {
            let user = try await limiter.givingBack(counted, onFailureOf: { try await users.find(id: session.userID) })
            let isCorrect = try await limiter.givingBack(&counted) {
                try await hasher.verify(old, against: user?.passwordHash)
            }
            guard isCorrect else { return nil }
            guard let user, !user.isDisabled else { throw ServiceError.tokenAccessDenied }
            let complaints = Password.complaints(about: new)
            guard complaints.isEmpty, let new else { throw AccountComplaints(password: complaints) }
            let newHash = if let hash { hash } else { try await hasher.hash(new) }
            hash = newHash
            let issued = IssuedToken(date: now(), lifetime: tokenLifetime)
            let isChanged = try await users.changePassword(
                of: user,
                to: newHash,
                by: session.id,
                beginning: issued,
                device: device,
                from: source
            )
            if isChanged { return (user, issued) }
        }
    }
}
