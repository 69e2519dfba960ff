package import Postgres
package import SelfieAccounts
import SelfiePhotos
import SelfieRecords

/// Removes an account with everything that belongs to it.
///
/// An account without records, and with few grants, is removed in one transaction. Another one is first closed for good. Then
/// its records are deleted, batch by batch, and their readers receive each deletion. The rest follows. ``finishAll()``
/// continues interrupted removals.
///
/// The keys of its photos go into `object_deletions` for the sweeper. Its audit events lose the addresses and the
/// requests' ids.
package struct RemoveAccount: Sendable {
    private let postgres: PostgresClient
    private let notifier: ChangeNotifier?
    private let notices: Notices?

    /// - Parameters:
    ///   - postgres: The database.
    ///   - notifier: Notifies readers of changes; with nil, they see them within ten seconds.
    ///   - notices: Tells users that their accounts are deleted; nil where no mail is sent.
    package init(postgres: PostgresClient, notifier: ChangeNotifier? = nil, notices: Notices? = nil) {
        (self.postgres, self.notifier, self.notices) = (postgres, notifier, notices)
    }

    /// Removes an account.
    ///
    /// - Parameters:
    ///   - userID: The account's id.
    ///   - passwordHash: The hash that the account must have; nil for an administrator.
    ///   - code: A code that is used up for it; nil where a password was checked, and for an administrator.
    ///   - sessionID: The session of the request; nil for an administrator.
    ///   - isWhole: Whether all of it is removed before this returns. Otherwise most of a large account may be left for
    ///     ``finishAll()``, and nothing is thrown once the account is closed.
    /// - Returns: Whether it was removed. False when the account is deleted already or has another password, or the code was
    ///   used.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PostgresError`.
    package func callAsFunction(
        userID: Int,
        passwordHash: String?,
        code: WaitingCode? = nil,
        sessionID: Int?,
        isWhole: Bool = true
    ) async throws -> Bool {
        try await remove(userID, by: sessionID, isWhole: isWhole) { connection in
            guard try await UserStore.lock(userID, passwordHash: passwordHash, on: connection) else { return false }
            guard let code else { return true }
            return try await CodeStore.use(code, ofUser: userID, on: connection)
        }
    }

    /// Removes accounts that were made without a password, and whose address was not proven in time.
    ///
    /// Nobody is told: the address may be anybody's. A failed removal does not stop the others.
    ///
    /// - Throws: The first failure, once all had their turn: `PostgresError`.
    func removeEndedProvisional() async throws {
        var failure: (any Error)?
        var last = 0
        while case let ids = try await EmailStore(postgres: postgres).endedProvisionalIDs(after: last), !ids.isEmpty {
            for id in ids {
                do {
                    _ = try await remove(id, by: nil, isWhole: true) { connection in
                        guard try await UserStore.lock(id, passwordHash: nil, on: connection) else { return false }
                        return try await EmailStore.isEndedProvisional(id, on: connection)
                    }
                } catch {
                    failure = failure ?? error
                }
            }
            last = ids[ids.count - 1]
        }
        if let failure { throw failure }
    }

    /// Removes an account if a closure, which locks it, allows that.
    private func remove(
        _ userID: Int,
        by sessionID: Int?,
        isWhole: Bool,
        if lock: (PostgresConnection) async throws -> Bool
    ) async throws -> Bool {
        let isLarge = try await postgres.withTransaction { connection -> Bool? in
            try await SchemaLock.share(on: connection)
            // Sign-ins, uploads and writers of records wait for this lock, and then find no account.
            guard try await lock(connection) else { return nil }
            var isLarge = try await RemoveRecords.areThere(ofUser: userID, on: connection)
            if !isLarge { isLarge = try await Self.hasManyGrants(userID, on: connection) }
            guard isLarge else {
                try await remove(userID, by: sessionID, on: connection)
                return false
            }
            try await UserStore.close(userID, on: connection)
            try await PhotoLibrary.endURLs(ofUser: userID, on: connection)
            try await SessionStore.endAll(ofUser: userID, by: sessionID, on: connection)
            return true
        }
        guard let isLarge else { return false }
        notifier?.notify([.user(userID), .deliveries])
        guard isLarge else { return true }
        do {
            try await finish(userID, maxBatches: isWhole ? .max : Self.maxBatchesAtOnce)
        } catch {
            // The account is closed, which is the answer.
            if isWhole { throw error }
        }
        return true
    }

    /// How many batches run before the request is answered: a hundred records, and as many grants as fit in a batch.
    private static let maxBatchesAtOnce = 2

    /// How many batches of an account run before the next account's turn.
    private static let maxBatchesInTurn = 50

    /// How many grants one transaction removes.
    ///
    /// Calls that write records for this reader wait for it.
    private static let grantBatchSize = 5_000

    /// Continues the removal of closed accounts: large ones, and those that crashes have interrupted.
    ///
    /// A failed removal does not stop those of other accounts.
    ///
    /// - Throws: The first failure, once all had their turn: `PostgresError`.
    func finishAll() async throws {
        var failure: (any Error)?
        for id in try await UserStore(postgres: postgres).closedIDs() {
            do { try await finish(id, maxBatches: Self.maxBatchesInTurn) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Removes a closed account, by at most so many batches of records and grants.
    private func finish(_ userID: Int, maxBatches: Int) async throws {
        let schemas = SchemaCache(store: SchemaStore(postgres: postgres))
        let removeRecords = RemoveRecords(postgres: postgres, schemas: schemas, notifier: notifier)
        var (isRemoved, batchesLeft) = (false, maxBatches)
        while !isRemoved {
            while case let keys = try await removeRecords.keys(ofUser: userID), !keys.isEmpty {
                guard batchesLeft > 0 else { return }
                batchesLeft -= 1
                try await removeRecords(keys: keys, areExpired: false)
            }
            var mayHaveGrants = true
            while mayHaveGrants {
                guard batchesLeft > 0 else { return }
                batchesLeft -= 1
                mayHaveGrants = try await removeSomeGrants(ofUser: userID)
            }
            isRemoved = try await postgres.withTransaction { connection in
                try await SchemaLock.share(on: connection)
                let isClosed = try await UserStore.lockClosed(userID, on: connection)
                // A write that began before the account was closed may have added one.
                if try await RemoveRecords.areThere(ofUser: userID, on: connection) { return false }
                if isClosed { try await remove(userID, by: nil, on: connection) }
                return true
            }
        }
    }

    /// Removes some grants of a closed account.
    ///
    /// - Returns: Whether there may be more.
    private func removeSomeGrants(ofUser userID: Int) async throws -> Bool {
        try await postgres.withTransaction { connection in
            try await SchemaLock.share(on: connection)
            guard let stream = try await Self.lockStream(ofUser: userID, on: connection) else { return false }
            let removal = GrantTable.removal(ofStream: "\(stream)", rowCount: Self.grantBatchSize)
            return try await connection.execute(removal) == Self.grantBatchSize
        }
    }

    /// Whether a user has more grants than one transaction removes.
    private static func hasManyGrants(_ userID: Int, on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            """
            SELECT FROM grants WHERE stream_id = (SELECT id FROM streams WHERE user_id = \(userID))
            OFFSET \(grantBatchSize) LIMIT 1
            """
        ).isEmpty
    }

    /// Calls that write records for this reader wait for this lock, and then find no stream.
    private static func lockStream(ofUser userID: Int, on connection: PostgresConnection) async throws -> Int? {
        try await connection.query(StreamTable.lockingForRemoval(ofUser: userID)).first?.decode("id")
    }

    /// Removes an account that is locked and has no records.
    private func remove(_ userID: Int, by sessionID: Int?, on connection: PostgresConnection) async throws {
        try await PhotoStore.removeAll(ofUser: userID, on: connection)
        // A trigger removes the stream itself with the user.
        if let stream = try await Self.lockStream(ofUser: userID, on: connection) {
            try await connection.executeInBatches { GrantTable.removal(ofStream: "\(stream)", rowCount: $0) }
            try await connection.executeInBatches { RecordTable.indexRemoval(ofStream: stream, rowCount: $0) }
        }
        // All sessions end first, so that none can add an event after the addresses were removed.
        try await SessionStore.endAll(ofUser: userID, by: sessionID, on: connection)
        try await AuditStore.forgetSources(ofUser: userID, on: connection)
        let event = try await AuditStore.add(.accountDeleted, userID: userID, from: nil, on: connection)
        if let notices, let email = try await EmailStore.emailForNotice(ofUser: userID, on: connection) {
            try await notices.tell(.accountDeleted, to: email, of: event, on: connection)
        }
        try await BlockStore.removeAll(ofUser: userID, on: connection)
        try await UserStore.remove(userID, on: connection)
    }
}
