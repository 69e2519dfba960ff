import Encodings
import OrderedCollections
import Postgres
import RecordSchema

/// Creates, changes and deletes records: all of a call, or none.
package struct WriteRecords: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    let limiter: RateLimiter
    let notifier: ChangeNotifier
    let digests: SentDigests
    /// The bytes of data that a user's records may have.
    let quotaBytes: Int

    /// How often a call begins again when others are in its way.
    private static let maxAttempts = 10

    /// Does what a client wants.
    ///
    /// - Parameters:
    ///   - operations: What to do, at most ``RecordLimits/maxBatchCount``.
    ///   - place: Where the records are.
    ///   - session: The session of who does it.
    ///   - source: Where the request came from.
    /// - Returns: The records, without those that were deleted.
    /// - Throws: `RecordRefusal`, `RateLimitExceeded`, `SessionError.ended` when the account is gone or disabled,
    ///   `RecordsBusy`, `PostgresError`.
    package func callAsFunction(
        _ operations: [RecordOperation],
        in place: RecordPlace,
        by session: Session,
        from source: RequestSource
    ) async throws -> [StoredRecord] {
        let userID = session.userID
        try Self.checkIDs(operations)
        var paidSends = 0
        if place.inboxOf != nil {
            paidSends = operations.count { [.create, .put].contains($0.action) }
        } else {
            paidSends = operations.reduce(0) { $0 + ($1.action == .create ? $1.named.count : 0) }
        }
        let clearsInbox = try await clearsInbox(operations, in: place)
        let isOwn = place.inboxOf == nil || place.inboxOf == session.photoReader.memberID
        let writes: LimitedAction =
            clearsInbox && isOwn
            ? .inboxDeletion(userID: userID) : .recordWrites(operations.count, userID: userID)
        // Nothing is counted for a call that is refused by one of the two.
        let counted = try await limiter.count(
            [writes] + Self.sends(paidSends, by: userID),
            ofUser: userID,
            from: source
        )
        for _ in 1...Self.maxAttempts {
            do {
                let result = try await schemas.withSchema { schema in
                    let call = RecordCall(
                        operations: operations,
                        place: place,
                        userID: userID,
                        schema: schema,
                        digests: digests,
                        quotaBytes: quotaBytes
                    )
                    return try await postgres.withTransaction { try await call.run(on: $0, paidSends: paidSends) }
                }
                notifier.notify(result.streams.map { .stream($0) })
                // What others have put there costs its recipient nothing.
                if clearsInbox, result.isOwnInbox { await limiter.giveBack(counted) }
                return result.records
            } catch let unpaid as UnpaidSends {
                _ = try await limiter.givingBack(counted) {
                    try await limiter.count(Self.sends(unpaid.count, by: userID), ofUser: userID, from: source)
                }
                paidSends += unpaid.count
            } catch let expired as ExpiredRecords {
                let removal = RemoveRecords(postgres: postgres, schemas: schemas, notifier: notifier)
                try await removal(keys: expired.keys, areExpired: true)
            } catch is RecordBusy {
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...20)))
            } catch let error as PostgresError where error.sqlState?.code == Self.uniqueViolation {
                // Somebody else has just created a record of the id. It is seen now.
                continue
            }
        }
        throw RecordsBusy()
    }

    /// Whether a call only deletes from an inbox.
    private func clearsInbox(_ operations: [RecordOperation], in place: RecordPlace) async throws -> Bool {
        guard operations.allSatisfy({ $0.action == .delete }) else { return false }
        return try await schemas.known().access(of: place.collection) == .inbox
    }

    private static let uniqueViolation = "23505"

    private static func sends(_ count: Int, by userID: Int) -> [LimitedAction] {
        count > 0 ? [.inboxSends(count, userID: userID)] : []
    }

    private static func checkIDs(_ operations: [RecordOperation]) throws(RecordRefusal) {
        var seen: Set<String> = []
        for (position, operation) in operations.enumerated() {
            guard let id = operation.id else { continue }
            guard RecordID.isValid(id), seen.insert(id).inserted else { throw RecordRefusal(.invalidID, at: position) }
        }
    }
}

/// Others are in the way of a call again and again.
package struct RecordsBusy: Error {}

/// So many more sends are to be counted before the call begins again.
struct UnpaidSends: Error {
    let count: Int
}

/// Records that have ended by themselves are in the way.
struct ExpiredRecords: Error {
    let keys: [Int]
}
