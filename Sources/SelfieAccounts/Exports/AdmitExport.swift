/// Lets a user export all data, unless that was done a short time ago.
package struct AdmitExport: Sendable {
    let limiter: RateLimiter
    let audit: AuditStore

    /// Counts an export, and notes it.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - source: Where the request came from.
    /// - Returns: The count, for ``giveBack(_:)``.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    package func callAsFunction(userID: Int, from source: RequestSource) async throws -> CountedActions {
        let counted = try await limiter.count([.export(userID: userID)], ofUser: userID, from: source)
        try await limiter.givingBack(
            counted,
            onFailureOf: {
                try await audit.add(.export, userID: userID, from: source)
            }
        )
        return counted
    }

    /// Undoes the count of an export that the service itself could not finish.
    package func giveBack(_ counted: CountedActions) async {
        await limiter.giveBack(counted)
    }
}
