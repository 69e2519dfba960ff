/// Finds the session of a token.
package struct FindSession: Sendable {
    let sessions: SessionStore
    let limiter: RateLimiter
    let uses: SessionUseRecorder

    /// Finds the session, and notes that it was used.
    ///
    /// An unknown token is counted, so that clients that try many are refused. A known one is never refused for what others
    /// did at the same address.
    ///
    /// - Parameters:
    ///   - token: As the client sent it.
    ///   - source: Where the request came from.
    /// - Returns: The session, which may have expired.
    /// - Throws: `SessionError.ended` for a token without a session, `RateLimitExceeded`, `PostgresError`.
    package func callAsFunction(
        token: String,
        from source: @autoclosure () -> RequestSource
    ) async throws -> Session {
        guard let session = try await sessions.find(token: token) else {
            let source = source()
            try await limiter.count(LimitedAction.tokenGuess(from: source.address), ofUser: nil, from: source)
            throw SessionError.ended
        }
        uses.note(session.id)
        return session
    }
}
