import Postgres

extension UserStore {
    /// Removes an account with everything that belongs to it.
    ///
    /// An account without records, and with few grants, goes in one transaction. Another one is first closed for good. Then
    /// its records go, batch by batch, so that those who share them see each of them go. The rest follows.
    /// ``finishDeletions()`` finishes what was left.
    ///
    /// The keys of its photos go into `object_deletions` for the sweeper. Its audit events lose the addresses and the
    /// requests' ids.
    ///
    /// - Parameters:
    ///   - userID: The account's id.
    ///   - passwordHash: The hash that the password was checked against; nil for an administrator, who needs none.
    ///   - sessionID: The session of the request; nil for an administrator.
    ///   - isWhole: Whether all of it goes before this returns. Otherwise most of a large account may be left for
    ///     ``finishDeletions()``, and nothing is thrown once the account is closed.
    /// - Returns: Whether it did. False when the account is gone or has another password.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PostgresError`.
    package func delete(
        userID: Int,
        passwordHash: String?,
        sessionID: Int?,
        isWhole: Bool = true
    ) async throws -> Bool {
        let isLarge = try await postgres.withTransaction { connection -> Bool? in
            try await SchemaLock.share(on: connection)
            // Sign-ins, uploads and writers of records wait for this lock, and then find no account.
            let locked = try await connection.query(
                """
                SELECT id FROM users
                WHERE id = \(userID) AND (\(passwordHash)::text IS NULL OR password_hash = \(passwordHash)::text) FOR UPDATE
                """
            )
            guard !locked.isEmpty else { return nil }
            var isLarge = try await Self.hasRecords(userID, on: connection)
            if !isLarge { isLarge = try await Self.hasManyGrants(userID, on: connection) }
            guard isLarge else {
                try await Self.remove(userID, by: sessionID, on: connection)
                return false
            }
            try await connection.execute(
                """
                UPDATE users SET disabled_at = coalesce(disabled_at, now() AT TIME ZONE 'UTC'),
                    leaving_since = coalesce(leaving_since, now() AT TIME ZONE 'UTC')
                WHERE id = \(userID)
                """
            )
            try await PhotoStore.endURLs(ofUser: userID, on: connection)
            try await SessionStore.endAll(ofUser: userID, by: sessionID, on: connection)
            return true
        }
        guard let isLarge else { return false }
        notifier?.notify([.user(userID)])
        guard isLarge else { return true }
        do {
            try await finishDeletion(userID, maxBatches: isWhole ? .max : Self.maxBatchesAtOnce)
        } catch {
            // The account is closed. Whoever waits for the answer is told so.
            if isWhole { throw error }
        }
        return true
    }

    /// How many batches go before the request is answered: a hundred records, and what the user reads.
    private static let maxBatchesAtOnce = 2

    /// How many batches of an account go before the next one has its turn.
    private static let maxBatchesInTurn = 50

    /// Goes on with the deletions of accounts that are closed: large ones, and those that crashes have interrupted.
    ///
    /// An account whose deletion fails keeps none of the others from theirs.
    ///
    /// - Throws: The first failure, once all had their turn: `PostgresError`.
    func finishDeletions() async throws {
        let rows = try await postgres.read(
            "SELECT id::bigint AS id FROM users WHERE leaving_since IS NOT NULL ORDER BY leaving_since LIMIT 100"
        )
        var failure: (any Error)?
        for row in rows {
            let id: Int = try row.decode("id")
            do { try await finishDeletion(id, maxBatches: Self.maxBatchesInTurn) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Removes an account that is closed for good.
    ///
    /// - Parameters:
    ///   - userID: The account's id.
    ///   - maxBatches: After how many batches of records and of grants it stops.
    /// - Throws: `PostgresError`.
    private func finishDeletion(_ userID: Int, maxBatches: Int = .max) async throws {
        let removal = RemoveRecords(
            postgres: postgres,
            schemas: SchemaCache(store: SchemaStore(postgres: postgres)),
            notifier: notifier
        )
        var (isGone, batchesLeft) = (false, maxBatches)
        while !isGone {
            while case let keys = try await recordKeys(ofUser: userID), !keys.isEmpty {
                guard batchesLeft > 0 else { return }
                batchesLeft -= 1
                try await removal(keys: keys, areExpired: false)
            }
            var mayHaveGrants = true
            while mayHaveGrants {
                guard batchesLeft > 0 else { return }
                batchesLeft -= 1
                mayHaveGrants = try await removeSomeGrants(ofUser: userID)
            }
            isGone = try await postgres.withTransaction { connection in
                try await SchemaLock.share(on: connection)
                let locked = try await connection.query(
                    "SELECT FROM users WHERE id = \(userID) AND leaving_since IS NOT NULL FOR UPDATE"
                )
                // A write that began before the account was closed may have added one.
                if try await Self.hasRecords(userID, on: connection) { return false }
                if !locked.isEmpty { try await Self.remove(userID, by: nil, on: connection) }
                return true
            }
        }
    }

    /// Some of the records that a user owns, and of those in the user's inboxes.
    private func recordKeys(ofUser userID: Int) async throws -> [Int] {
        try await postgres.read(
            """
            (SELECT key FROM records WHERE owner_id = \(userID) AND deleted_at IS NULL LIMIT \(RemoveRecords.batchSize))
            UNION (SELECT key FROM records \(part: RemoveRecords.ofUsers)
                WHERE recipient_id = \(userID) AND recipient_id > 0 AND deleted_at IS NULL LIMIT \(RemoveRecords.batchSize))
            LIMIT \(RemoveRecords.batchSize)
            """
        ).map { try $0.decode("key") }
    }

    private static func hasRecords(_ userID: Int, on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            """
            SELECT FROM records WHERE owner_id = \(userID) AND deleted_at IS NULL
            UNION ALL SELECT FROM records \(part: RemoveRecords.ofUsers)
                WHERE recipient_id = \(userID) AND recipient_id > 0 AND deleted_at IS NULL
            LIMIT 1
            """
        ).isEmpty
    }

    /// How many grants one transaction removes.
    ///
    /// Whoever writes a record that the user reads waits for it.
    private static let grantBatchSize = 5_000

    /// Whether a user reads more than goes in one transaction.
    private static func hasManyGrants(_ userID: Int, on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            """
            SELECT FROM grants WHERE stream_id = (SELECT id FROM streams WHERE user_id = \(userID))
            OFFSET \(grantBatchSize) LIMIT 1
            """
        ).isEmpty
    }

    /// Removes some of what a user could see, of an account that is closed for good.
    ///
    /// - Returns: Whether there may be more.
    private func removeSomeGrants(ofUser userID: Int) async throws -> Bool {
        try await postgres.withTransaction { connection in
            try await SchemaLock.share(on: connection)
            guard let stream = try await Self.lockStream(ofUser: userID, on: connection) else { return false }
            let count = try await connection.execute(Self.grantRemoval(from: stream, rowCount: Self.grantBatchSize))
            return count == Self.grantBatchSize
        }
    }

    private static func lockStream(ofUser userID: Int, on connection: PostgresConnection) async throws -> Int? {
        try await connection.query("SELECT id FROM streams WHERE user_id = \(userID) FOR UPDATE").first?.decode("id")
    }

    private static func grantRemoval(from stream: Int, rowCount: Int) -> PostgresQuery {
        """
        DELETE FROM grants WHERE (collection_id, record_key, stream_id) IN (
            SELECT collection_id, record_key, stream_id FROM grants WHERE stream_id = \(stream) LIMIT \(rowCount)
        )
        """
    }

    /// Removes an account that is locked and has no records.
    private static func remove(_ userID: Int, by sessionID: Int?, on connection: PostgresConnection) async throws {
        try await PhotoStore.removeAll(ofUser: userID, on: connection)
        try await removeStream(ofUser: userID, on: connection)
        // All sessions end first, so that none can add an event after the addresses were removed.
        try await SessionStore.endAll(ofUser: userID, by: sessionID, on: connection)
        try await AuditStore.forgetSources(ofUser: userID, on: connection)
        try await AuditStore.add(.accountDeleted, userID: userID, from: nil, on: connection)
        try await BlockStore.removeAll(ofUser: userID, on: connection)
        try await connection.execute("DELETE FROM users WHERE id = \(userID)")
    }

    /// Removes what a user could see.
    ///
    /// The stream itself goes with the user.
    private static func removeStream(ofUser userID: Int, on connection: PostgresConnection) async throws {
        // Whoever writes a record that the user reads waits for this lock, and then finds no stream.
        guard let stream = try await lockStream(ofUser: userID, on: connection) else { return }
        try await connection.executeInBatches { grantRemoval(from: stream, rowCount: $0) }
        try await connection.executeInBatches { rowCount in
            """
            DELETE FROM record_index WHERE (stream_id, collection_id, field, value, record_key) IN (
                SELECT stream_id, collection_id, field, value, record_key FROM record_index
                WHERE stream_id = \(stream) LIMIT \(rowCount)
            )
            """
        }
    }
}
