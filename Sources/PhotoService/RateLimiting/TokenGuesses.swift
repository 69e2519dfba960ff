import Hummingbird

/// Refuses tokens that nobody has, and who tries many of them.
///
/// A token that somebody has is never refused for what others did at the same address.
struct TokenGuesses: Sendable {
    let limiter: RateLimiter
    let sources: RequestSourceReader

    /// What to answer to a token that nobody has.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: Its connection.
    /// - Returns: `ServiceError.tokenAccessDenied`.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    func refusal(of request: Request, context: some ConnectionContext) async throws -> ServiceError {
        let source = sources.source(of: request, context: context)
        try await limiter.count(.tokenGuess(network: source.address.network), ofUser: nil, from: source)
        return .tokenAccessDenied
    }
}
