package import Postgres

extension Session {
    /// What a standby must have replayed before it may answer this session.
    ///
    /// It has all that the session has written, and is not far behind: otherwise it would show what was withdrawn long ago.
    package var readPosition: ReadPosition {
        ReadPosition(
            isReplayedIf: """
                EXISTS (SELECT FROM sessions WHERE id = \(id) AND write_count >= \(writeCount))
                AND EXISTS (
                    SELECT FROM replication_heartbeat
                    WHERE beaten_at > now() - make_interval(secs => \(ReplicationHeartbeat.maxAge)::integer)
                )
                """
        )
    }
}

extension SessionStore {
    /// Notes that a call of a session may have changed something.
    ///
    /// To be called after the change was committed, and before the client has the answer.
    ///
    /// - Parameter id: The session's id. It may have ended.
    /// - Throws: `PostgresError`.
    package func noteWrite(of id: Int) async throws {
        try await postgres.write("UPDATE sessions SET write_count = write_count + 1 WHERE id = \(id)")
    }
}
