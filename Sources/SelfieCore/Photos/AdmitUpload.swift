/// Lets a user upload a photo, unless there were too many uploads.
package struct AdmitUpload: Sendable {
    let limiter: RateLimiter

    /// Counts an upload, before its body is read.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - source: Where the request came from.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    package func callAsFunction(userID: Int, from source: RequestSource) async throws {
        try await limiter.count([.upload(userID: userID)], ofUser: userID, from: source)
    }
}
