import FoundationEssentials
import RecordSchema

/// Follows the changes that a user may see.
package struct FollowChanges: Sendable {
    let store: ChangeStore
    package let hub: ChangeHub
    let uses: SessionUseRecorder
    let now: @Sendable () -> Date

    /// Requires that all collections are there that a client asks for.
    ///
    /// - Parameter query: Which changes.
    /// - Throws: `RecordRefusal`, `PostgresError`.
    package func requireCollections(of query: ChangeQuery) async throws {
        guard let names = query.collections else { return }
        try await store.schemas.withSchema { schema in
            for name in names where name != Schema.photosName { _ = try schema.collection(name) }
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
    /// - Returns: The changes; none when the time is over.
    /// - Throws: As ``page(_:from:by:)``.
    package func page(
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        by session: Session,
        waiting seconds: Int
    ) async throws -> ChangeBatch {
        let deadline = ContinuousClock.now + .seconds(seconds)
        let listener = ChangeListener(userID: session.userID, sessionID: session.id)
        hub.add(listener)
        defer { hub.remove(listener) }
        var start = start
        while true {
            let batch = try await page(query, from: start, by: session)
            if !batch.changes.isEmpty || ContinuousClock.now >= deadline { return batch }
            start = .after(batch.end)
            if batch.hasMore || hub.move(listener, to: batch.end.positions) { continue }
            if await listener.next(until: deadline).isStopping { return batch }
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
        ChangeFollower(
            query: query,
            start: start,
            reader: ChangeReader(userID: session.userID, sessionID: session.id),
            parts: self,
            lifetime: lifetime
        )
    }
}
