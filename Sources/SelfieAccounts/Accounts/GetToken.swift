/// Begins a session as a sign-in does, for clients that ask for the token alone.
package struct GetToken: Sendable {
    let signIn: SignIn
    let limiter: RateLimiter
    /// Whether the password is required; railsauth did not require it.
    package let needsPassword: Bool

    /// Counts the call, and begins a session.
    ///
    /// - Parameter attempt: What was sent, without a password when none is required.
    /// - Returns: The account and its new token; nil when e-mail or password is wrong.
    /// - Throws: `RateLimitExceeded`, `CodeError.invalid`, `AccountError`, `PostgresError`, `TooBusy`.
    package func callAsFunction(_ attempt: SignInAttempt) async throws -> (user: User, issued: IssuedToken)? {
        try await limiter.count(LimitedAction.getToken(from: attempt.source.address), ofUser: nil, from: attempt.source)
        return try await signIn(attempt)
    }
}
