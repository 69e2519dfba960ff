import FoundationEssentials
package import Postgres
import RecordSchema
package import SelfieAccounts

/// Follows the changes that a user may see.
package struct FollowChanges: Sendable {
    let store: ChangeStore
    package let hub: ChangeHub
    /// Nil where readers have no session.
    let uses: SessionUseRecorder?
    let now: @Sendable () -> Date
    /// After how many milliseconds a follower notes again that its session is in use: each note writes a row.
    var useMilliseconds = 300_000...600_000

    /// Requires that the collections of a query exist for the user.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - userID: The user.
    /// - Throws: `RecordRefusal`, `PostgresError`.
    package func requireCollections(of query: ChangeQuery, by userID: Int) async throws {
        guard let names = query.collections else { return }
        try await store.schemas.withSchema { schema in
            for name in names where name != Schema.photosName {
                let reader = RecordReader(userID: userID, collection: try schema.collection(name))
                guard try await store.records.lists(reader) else { throw RecordRefusal(.noCollection) }
            }
        }
    }

    /// A page of changes, at once or as soon as there is one.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - start: Where the client is.
    ///   - session: The client's session.
    ///   - seconds: How long to wait at most.
    /// - Returns: The changes; none when the time is over, or the process ends.
    /// - Throws: `ChangeReset`, `SessionError`, `RecordRefusal` for a collection that is not there, `PostgresError`.
    package func page(
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        by session: Session,
        waiting seconds: Int
    ) async throws -> ChangeBatch {
        guard seconds > 0 else {
            let reader = ChangeReader(userID: session.userID, sessionID: session.id)
            return try await store.read(query, from: start, by: reader)
        }
        let follower = self(query, from: start, of: session.userID, session: session, for: .seconds(seconds))
        while true {
            switch try await follower.next() {
            case .changes(let batch): return batch
            case .synced, .cursor, .nothing: break
            case .reset(let reset): throw reset
            case .end(.session): throw SessionError.ended
            case .end(.expired): throw SessionError.expired
            case .end(.restart), .end(.renew):
                if let position = follower.position { return position }
                // There was no time to read anything.
                return try await page(query, from: start, by: session, waiting: 0)
            }
        }
    }

    /// Begins to follow, until the follower is dropped.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - start: Where the client is.
    ///   - userID: The user.
    ///   - session: The client's session; nil for an administrator.
    ///   - lifetime: How long the client is followed before it is to connect again.
    /// - Returns: The follower.
    package func callAsFunction(
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        of userID: Int,
        session: Session?,
        for lifetime: Duration
    ) -> ChangeFollower {
        let reader = ChangeReader(userID: userID, sessionID: session?.id)
        return ChangeFollower(query: query, start: start, reader: reader, parts: self, lifetime: lifetime)
    }
}

extension FollowChanges {
    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        let store = ChangeStore(postgres: postgres, schemas: SchemaCache(store: SchemaStore(postgres: postgres)))
        let now: @Sendable () -> Date = { Date() }
        self.init(store: store, hub: ChangeHub(store: store, now: now), uses: nil, now: now)
    }
}
