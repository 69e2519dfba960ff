import Postgres

/// What the database says of all that readers wait for.
struct ChangeComparison: Sendable {
    let schemaVersion: Int
    /// The mark of the present start of PostgreSQL; 0 until a reader gives it one.
    let mark: Int
    /// The streams that readers are in.
    let streams: [Int: (number: Int, isOfRole: Bool)]
    /// The sessions that have not ended, of accounts that are not disabled.
    let sessions: Set<Int>
    /// The streams of the roles that users have, by user.
    let roleStreams: [Int: Set<Int>]

    /// Reads it: a statement for streams, one for sessions and one for roles.
    ///
    /// - Parameters:
    ///   - listeners: The readers.
    ///   - postgres: The database.
    /// - Returns: What it says.
    /// - Throws: `PostgresError`.
    static func read(
        of listeners: some Collection<ChangeListener>,
        from postgres: PostgresClient
    ) async throws -> ChangeComparison {
        let streams = Set(listeners.flatMap { $0.positions.keys })
        let numbers = try await postgres.read(
            """
            SELECT id, seq, role_id IS NOT NULL AS is_of_role, \(part: SchemaStore.versionColumn) AS schema_version,
                \(part: DatabaseStarts.mark) AS mark
            FROM streams WHERE id = ANY(\(Array(streams)))
            """
        )
        let sessions = try await postgres.read(
            """
            SELECT sessions.id FROM sessions JOIN users ON users.id = user_id
            WHERE sessions.id = ANY(\(listeners.compactMap(\.sessionID))) AND disabled_at IS NULL
            """
        )
        let roles = try await postgres.read(
            """
            SELECT role_members.user_id::bigint AS user_id, streams.id FROM role_members
            JOIN roles ON roles.id = role_members.role_id JOIN streams ON streams.role_id = roles.id
            WHERE role_members.user_id = ANY(\(Array(Set(listeners.map(\.userID))))) AND disabled_at IS NULL
            """
        )
        return ChangeComparison(
            schemaVersion: try numbers.first?.decode("schema_version") ?? 0,
            mark: try numbers.first?.decodeIfPresent("mark") ?? 0,
            streams: try numbers.reduce(into: [:]) { streams, row in
                streams[try row.decode("id")] = (try row.decode("seq"), try row.decode("is_of_role"))
            },
            sessions: Set(try sessions.map { try $0.decode("id", as: Int.self) }),
            roleStreams: try roles.reduce(into: [:]) { streams, row in
                streams[try row.decode("user_id"), default: []].insert(try row.decode("id", as: Int.self))
            }
        )
    }

    /// What a reader has missed, or sees otherwise than before; nil for nothing.
    func missed(by listener: ChangeListener) -> ChangeListener.Wake? {
        var changed: Set<Int> = []
        var (roleCount, hasLostRole) = (0, false)
        let roles = roleStreams[listener.userID]
        for (stream, position) in listener.positions {
            let present = streams[stream]
            if present?.number != position { changed.insert(stream) }
            guard present?.isOfRole == true else { continue }
            roleCount += 1
            if roles?.contains(stream) != true { hasLostRole = true }
        }
        let needsRead =
            listener.sessionID.map { !sessions.contains($0) } ?? false || listener.schemaVersion != schemaVersion
            // An older state of the database may have the same numbers.
            || listener.mark != mark || hasLostRole || roleCount != roles?.count ?? 0
        guard needsRead || !changed.isEmpty else { return nil }
        return ChangeListener.Wake(needsRead: needsRead, changed: changed)
    }
}
