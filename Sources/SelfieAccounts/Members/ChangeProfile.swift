/// Changes a user's own profile.
package struct ChangeProfile: Sendable {
    let members: MemberStore
    let limiter: RateLimiter

    /// Changes the profile, once that is counted.
    ///
    /// - Parameters:
    ///   - change: What to change.
    ///   - userID: The user's id.
    ///   - source: Where the request came from.
    /// - Returns: The changed profile.
    /// - Throws: `RateLimitExceeded`, `InvalidInput`, `SessionError.ended` when the account is deleted, `PostgresError`.
    package func callAsFunction(
        _ change: ProfileChange,
        ofUser userID: Int,
        from source: RequestSource
    ) async throws -> Profile {
        try await limiter.count([.recordWrites(1, userID: userID)], ofUser: userID, from: source)
        return try await members.change(profileOfUser: userID, by: change)
    }
}
