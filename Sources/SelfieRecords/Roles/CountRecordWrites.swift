package import SelfieAccounts

/// Counts other changes that are limited together with those of records.
package struct CountRecordWrites: Sendable {
    let limiter: RateLimiter

    /// Counts one change.
    ///
    /// - Parameters:
    ///   - userID: Who changes something.
    ///   - source: Where the request came from.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    package func callAsFunction(by userID: Int, from source: RequestSource) async throws {
        try await limiter.count([.recordWrites(1, userID: userID)], ofUser: userID, from: source)
    }
}
