package import SelfieRecords

extension Administration {
    /// Follows what changes for a user, until the body returns false, or nothing more can come.
    ///
    /// - Parameters:
    ///   - selector: The user.
    ///   - query: Which changes.
    ///   - start: Where to begin.
    ///   - body: Gets each event. It returns whether more are wanted.
    /// - Throws: What the body throws, `AdministrationError.noSuchUser`, `RecordRefusal` for a collection that is not
    ///   there, `PostgresError`.
    package func followChanges(
        of selector: UserSelector,
        _ query: ChangeQuery,
        from start: ChangeQuery.Start,
        _ body: (ChangeFollower.Event) async throws -> Bool
    ) async throws {
        let user = try await id(of: selector)
        let follow = FollowChanges(postgres: postgres)
        try await follow.requireCollections(of: query, by: user)
        try await withThrowingDiscardingTaskGroup { tasks in
            tasks.addTask { await follow.hub.run() }
            let follower = follow(query, from: start, of: user, session: nil, for: .seconds(Int32.max))
            var wantsMore = true
            while wantsMore {
                let event = try await follower.next()
                wantsMore = try await body(event) && !event.isLast
            }
            tasks.cancelAll()
        }
    }
}
