package import Postgres

/// The table `blocks`: the members that a user has blocked.
package struct BlockStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// The most members that a user may block.
    package static let maxCount = 1_000

    /// The members that a user blocks.
    ///
    /// - Parameter userID: The user's id.
    /// - Returns: Their ids, in no particular order, with those of disabled accounts.
    /// - Throws: `PostgresError`.
    package func members(blockedBy userID: Int) async throws -> [String] {
        let rows = try await postgres.read(
            """
            SELECT member_id FROM blocks JOIN users ON users.id = blocked_user_id
            WHERE user_id = \(userID) ORDER BY blocked_user_id
            """
        )
        return try rows.map { try $0.decode("member_id") }
    }

    /// Blocks a member.
    ///
    /// A second block changes nothing.
    func block(_ memberID: String, by userID: Int) async throws {
        guard MemberID.isPossible(memberID) else { throw BlockError.noSuchMember }
        try await postgres.withTransaction { connection in
            // Parallel calls of a user wait here for each other, so that they can't pass the limit together.
            let own = try await connection.query("SELECT id FROM users WHERE id = \(userID) FOR NO KEY UPDATE")
            guard !own.isEmpty else { throw SessionError.ended }
            let rows = try await connection.query(
                "SELECT id FROM users WHERE member_id = \(memberID) AND disabled_at IS NULL FOR KEY SHARE"
            )
            guard let blockedID: Int = try rows.first?.decode("id") else { throw BlockError.noSuchMember }
            guard blockedID != userID else { throw BlockError.isOneself }
            let added = try await connection.execute(
                """
                INSERT INTO blocks (user_id, blocked_user_id)
                SELECT \(userID)::integer, \(blockedID)::integer
                WHERE (SELECT count(*) FROM blocks WHERE user_id = \(userID)) < \(Self.maxCount)
                ON CONFLICT DO NOTHING
                """
            )
            if added == 1 { return }
            let present = try await connection.query(
                "SELECT user_id FROM blocks WHERE user_id = \(userID) AND blocked_user_id = \(blockedID)"
            )
            if present.isEmpty { throw BlockError.tooMany }
        }
    }

    /// Ends the block of a member.
    ///
    /// Without a block, nothing changes.
    func unblock(_ memberID: String, by userID: Int) async throws {
        guard MemberID.isPossible(memberID) else { throw BlockError.noSuchMember }
        // A disabled account can't be blocked, but a block of it can be removed.
        let rows = try await postgres.withConnection { connection in
            try await connection.query(
                """
                WITH ended AS (
                    DELETE FROM blocks
                    WHERE user_id = \(userID) AND blocked_user_id = (SELECT id FROM users WHERE member_id = \(memberID))
                    RETURNING blocked_user_id
                )
                SELECT id FROM users LEFT JOIN ended ON blocked_user_id = id
                WHERE member_id = \(memberID) AND (disabled_at IS NULL OR blocked_user_id IS NOT NULL)
                """
            )
        }
        guard !rows.isEmpty else { throw BlockError.noSuchMember }
    }

    /// Removes all blocks of a user and all blocks by others, in the order of their keys, batch by batch.
    ///
    /// So two accounts that block each other can be deleted at the same time.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - connection: In the transaction that removes the account.
    /// - Throws: `PostgresError`.
    package static func removeAll(ofUser userID: Int, on connection: PostgresConnection) async throws {
        let selections: [PostgresQuery] = [
            "blocked_user_id = \(userID) AND user_id < \(userID)", "user_id = \(userID)",
            "blocked_user_id = \(userID) AND user_id > \(userID)",
        ]
        for selection in selections {
            try await connection.executeInBatches { rowCount in
                """
                DELETE FROM blocks WHERE (user_id, blocked_user_id) IN (
                    SELECT user_id, blocked_user_id FROM blocks WHERE \(part: selection)
                    ORDER BY user_id, blocked_user_id LIMIT \(rowCount) FOR UPDATE
                )
                """
            }
        }
    }
}
