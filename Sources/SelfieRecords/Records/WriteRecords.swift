import Postgres
import RecordSchema
package import SelfieAccounts

/// Creates, changes and deletes records: all of a call, or none.
package struct WriteRecords: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    let limiter: RateLimiter
    let notifier: ChangeNotifier
    let digests: SentDigests
    /// The bytes of data that a user's records may have.
    let quotaBytes: Int

    /// How often a call is retried when other calls are in its way.
    private static let maxAttempts = 10

    /// Runs the operations of a call.
    ///
    /// - Parameters:
    ///   - operations: What to do, at most ``RecordLimits/maxBatchCount``.
    ///   - location: Where the records are.
    ///   - session: The author's session.
    ///   - source: Where the request came from.
    /// - Returns: The records, without those that were deleted.
    /// - Throws: `RecordRefusal`, `RateLimitExceeded`, `SessionError.ended` when the account is deleted or disabled,
    ///   `RecordsBusy`, `PostgresError`.
    package func callAsFunction(
        _ operations: [RecordOperation],
        in location: RecordLocation,
        by session: Session,
        from source: RequestSource
    ) async throws -> [StoredRecord] {
        try Self.checkIDs(operations)
        let userID = session.userID
        // A call that is refused costs no statement. So writes are counted only after that.
        if location.inboxOf != nil || operations.contains(where: { $0.action == .create && $0.namesMembers }) {
            try limiter.requireNotRefused(.inboxSends(1, userID: userID))
        }
        let clearsInbox = try await clearsOwnInbox(operations, in: location, by: session)
        let writes = try await limiter.count(
            [clearsInbox ? .inboxDeletion(userID: userID) : .recordWrites(operations.count, userID: userID)],
            ofUser: userID,
            from: source
        )
        var sends = Sends()
        var prepared: RecordCall?
        do {
            for _ in 1...Self.maxAttempts {
                let attempt = try await schemas.withSchema { schema in
                    let call =
                        if let prepared, prepared.schema.version == schema.version {
                            prepared
                        } else {
                            try await RecordCall(operations, in: location, by: session, schema, digests: digests)
                        }
                    prepared = call
                    let readers = try await RecordStore(postgres: postgres).readers(
                        of: call.sharedRecords,
                        askedBy: userID
                    )
                    // Nothing is counted for a call that is refused by one of the two limits.
                    try await limiter.givingBack(writes) {
                        try await count(call.maxSends(readers), as: &sends, of: call, by: userID, from: source)
                    }
                    return try await run(call, readers)
                }
                switch attempt {
                case .done(let done):
                    notifier.notify(done.streams.map { .stream($0) } + (done.addsDeliveries ? [.deliveries] : []))
                    await limiter.giveBack(sends.count - done.sendCount, of: sends.counted)
                    // Deleting messages from others is free for the recipient.
                    if clearsInbox { await limiter.giveBack(writes) }
                    return done.records
                case .expired(let keys):
                    let removal = RemoveRecords(postgres: postgres, schemas: schemas, notifier: notifier)
                    try await removal(keys: keys, areExpired: true)
                case .busy: try await Task.sleep(for: .milliseconds(Int.random(in: 1...20)))
                }
            }
            throw RecordsBusy()
        } catch {
            // No reader was named. A message counts also when sending fails.
            if !sends.areMessages, !Task.isCancelled { await limiter.giveBack(sends.counted) }
            throw error
        }
    }

    /// The sends that were counted, an upper bound.
    private struct Sends {
        var count = 0
        var counted = CountedActions()
        var areMessages = false
    }

    /// Counts the most sends that a call may make, unless as many are counted already.
    private func count(
        _ maxSends: Int,
        as sends: inout Sends,
        of call: RecordCall,
        by userID: Int,
        from source: RequestSource
    ) async throws {
        guard maxSends > sends.count else { return }
        await limiter.giveBack(sends.counted)
        sends = Sends()
        let counted = try await limiter.count([.inboxSends(maxSends, userID: userID)], ofUser: userID, from: source)
        sends = Sends(count: maxSends, counted: counted, areMessages: call.isInbox)
    }

    private func run(_ call: RecordCall, _ readers: [RecordName: Set<String>]) async throws -> RecordCall.Attempt {
        do {
            return try await postgres.withTransaction { connection in
                try await call.attempt(on: connection, readers, quotaBytes: quotaBytes)
            }
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            // Another call has just created a record with this id. The next attempt sees it.
            return .busy
        }
    }

    /// Whether a call only deletes from the caller's own inbox.
    private func clearsOwnInbox(
        _ operations: [RecordOperation],
        in location: RecordLocation,
        by session: Session
    ) async throws -> Bool {
        guard operations.allSatisfy({ $0.action == .delete }) else { return false }
        guard location.inboxOf == nil || location.inboxOf == session.photoReader.memberID else { return false }
        return try await schemas.known().access(of: location.collection) == .inbox
    }

    private static func checkIDs(_ operations: [RecordOperation]) throws(RecordRefusal) {
        var seen: Set<String> = []
        for (position, operation) in operations.enumerated() {
            guard let id = operation.id else { continue }
            let isAllowed = operation.action == .delete ? RecordID.isValid(id) : RecordID.canBeNew(id)
            guard isAllowed, seen.insert(id).inserted else { throw RecordRefusal(.invalidID, at: position) }
        }
    }
}

/// A call was retried too often because of other calls.
package struct RecordsBusy: Error {}
