import FoundationEssentials
package import Postgres
import RecordSchema
package import SelfieAccounts

/// Follows the changes that a user may see.
package struct FollowChanges: Sendable {
    let store: ChangeStore
    package let hub: ChangeHub
    /// Nil where nobody has a session.
    let uses: SessionUseRecorder?
    let now: @Sendable () -> Date
    /// After how many milliseconds a follower notes again that its session is in use: each note writes a row.
    var useMilliseconds = 300_000...600_000

    /// Requires that all collections are there, for the user, that a client asks for.
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

    /// A page of changes, at once.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - start: Where the client is.
    ///   - session: The client's session.
    /// - Returns: The changes.
    /// - Throws: `ChangeReset`, `SessionError.ended`, `RecordRefusal` for a collection that is not there, `PostgresError`.
    package func page(
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        by session: Session
    ) async throws -> ChangeBatch {
        try await store.read(query, from: start, by: ChangeReader(userID: session.userID, sessionID: session.id))
    }

    /// A page of changes, as soon as there is one.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - start: Where the client is.
    ///   - session: The client's session.
    ///   - seconds: How long to wait at most.
    /// - Returns: The changes; none when the time is over, or the process ends.
    /// - Throws: As ``page(_:from:by:)``, and `SessionError.expired`.
    package func page(
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        by session: Session,
        waiting seconds: Int
    ) async throws -> ChangeBatch {
        let follower = self(query, from: start, by: session, for: .seconds(seconds))
        while true {
            switch try await follower.next() {
            case .changes(let batch): return batch
            case .synced, .cursor, .nothing: break
            case .reset(let reset): throw reset
            case .end(.session): throw SessionError.ended
            case .end(.expired): throw SessionError.expired
            case .end(.restart), .end(.renew):
                // One that had no time to read anything asks once.
                guard let place = follower.place else { return try await page(query, from: start, by: session) }
                return place
            }
        }
    }

    /// Begins to follow, until the follower is dropped.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - start: Where the client is.
    ///   - session: The client's session.
    ///   - lifetime: How long the client is followed before it is to come again.
    /// - Returns: The follower.
    package func callAsFunction(
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        by session: Session,
        for lifetime: Duration
    ) -> ChangeFollower {
        let reader = ChangeReader(userID: session.userID, sessionID: session.id)
        return ChangeFollower(query: query, start: start, reader: reader, parts: self, lifetime: lifetime)
    }

    /// Begins to follow a user who need not be signed in, until the follower is dropped.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - start: Where to begin.
    ///   - userID: The user.
    /// - Returns: The follower.
    package func callAsFunction(
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        ofUser userID: Int
    ) -> ChangeFollower {
        let reader = ChangeReader(userID: userID, sessionID: nil)
        return ChangeFollower(query: query, start: start, reader: reader, parts: self, lifetime: .seconds(Int32.max))
    }
}

extension FollowChanges {
    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        let store = ChangeStore(postgres: postgres, schemas: SchemaCache(store: SchemaStore(postgres: postgres)))
        let now: @Sendable () -> Date = { Date() }
        self.init(store: store, hub: ChangeHub(postgres: postgres, store: store, now: now), uses: nil, now: now)
    }
}
