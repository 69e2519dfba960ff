/// Blocks and unblocks members.
package struct BlockMember: Sendable {
    let blocks: BlockStore
    let limiter: RateLimiter

    package enum Change: Sendable {
        /// A second block changes nothing.
        case block
        /// Without a block, nothing changes.
        case unblock
    }

    /// Blocks or unblocks a member, once that is counted.
    ///
    /// - Parameters:
    ///   - change: Which of them.
    ///   - memberID: The member's id, as a client sent it.
    ///   - userID: The id of the user who blocks.
    ///   - source: Where the request came from.
    /// - Throws: `RateLimitExceeded`, `BlockError`, `SessionError.ended` when the user's account is deleted, `PostgresError`.
    package func callAsFunction(
        _ change: Change,
        _ memberID: String,
        by userID: Int,
        from source: RequestSource
    ) async throws {
        try await limiter.count([.recordWrites(1, userID: userID)], ofUser: userID, from: source)
        switch change {
        case .block: try await blocks.block(memberID, by: userID)
        case .unblock: try await blocks.unblock(memberID, by: userID)
        }
    }
}
