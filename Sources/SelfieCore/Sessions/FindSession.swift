/// Finds the session of a token.
package struct FindSession: Sendable {
    let sessions: SessionStore
    let guesses: TokenGuesses
    let uses: SessionUseRecorder

    /// Finds the session, and notes that it was used.
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
            throw try await guesses.refusal(from: source())
        }
        uses.note(session.id)
        return session
    }
}

/// Refuses unknown tokens, and clients that try many of them.
///
/// A valid token is never refused for what others did at the same address.
struct TokenGuesses: Sendable {
    let limiter: RateLimiter

    /// Counts an unknown token.
    ///
    /// - Parameter source: Where the request came from.
    /// - Returns: `SessionError.ended`.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    func refusal(from source: RequestSource) async throws -> SessionError {
        try await limiter.count(LimitedAction.tokenGuess(from: source.address), ofUser: nil, from: source)
        return .ended
    }
}
