import FoundationEssentials

/// Changes a password, for a user who gives the old one.
package struct ResetPassword: Sendable {
    let users: UserStore
    let check: PasswordCheck
    let hasher: PasswordHasher
    let lifetimes: SessionLifetimes
    let now: @Sendable () -> Date

    /// Changes the password, ends all sessions and begins a new one.
    ///
    /// The new one is remembered if the request's was.
    ///
    /// - Parameters:
    ///   - session: The session of the account's user.
    ///   - old: The old password; nil for one that could not be decrypted.
    ///   - new: The new password; nil for one that could not be decrypted.
    ///   - device: The label of the new session, for its user.
    ///   - source: Where the request came from.
    /// - Returns: The account and its new token; nil when the old password is wrong.
    /// - Throws: `InvalidInput` about the new password, `RateLimitExceeded`, `SessionError.ended` when the session has
    ///   ended or the account is disabled, `PostgresError`, `TooBusy`.
    package func callAsFunction(
        _ session: Session,
        old: Password?,
        new: Password?,
        device: String?,
        from source: RequestSource
    ) async throws -> (user: User, issued: IssuedToken)? {
        var hash: String?
        return try await check(
            old,
            for: PasswordCheck.Purpose(by: session, failure: .passwordResetFailed, source: source),
            find: { _ in try await users.find(id: session.userID) },
            use: { user, _ in
                guard !user.isDisabled else { throw SessionError.ended }
                let newHash =
                    if let hash { hash } else {
                        try await hasher.hash(try Password.checked(new), for: source.caller(.user(id: user.id)))
                    }
                hash = newHash
                let isRemembered = session.maxUnusedDays != nil
                let issued = IssuedToken(
                    date: now(),
                    lifetime: isRemembered ? lifetimes.remembered : lifetimes.usual
                )
                let isChanged = try await users.changePassword(
                    of: user,
                    to: newHash,
                    by: session.id,
                    beginning: issued,
                    device: device,
                    from: source
                )
                return isChanged ? (user, issued) : nil
            }
        )
    }
}
