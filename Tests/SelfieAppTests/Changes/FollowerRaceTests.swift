import ConnectionTestSupport
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieRecords

/// What happens while a reading is under way.
@Suite("Followers that race with writers", .timeLimit(.minutes(1)))
struct FollowerRaceTests {
    @Test("A change written after a stream was read, and before it is followed, is sent at once")
    func newStream() async throws {
        // No other statement waits behind the one that waits for the lock.
        try await TestService.runWithFollowers(pipelineDepth: 1) { service, follow, owner, ada, followers in
            try await service.put("news/x", as: owner, #"{"data":{"title":"x"}}"#)
            #expect(try await followers[0].nextChanges().map(\.id) == ["x"])
            // Whoever reads all of its streams waits for a lock, and sees what was there before.
            try await service.postgres.write("ALTER TABLE collections RENAME TO held_collections")
            try await service.postgres.write(
                """
                CREATE VIEW collections AS SELECT held_collections.* FROM held_collections
                CROSS JOIN (SELECT pg_advisory_xact_lock_shared(20) OFFSET 0) AS held
                """
            )
            try await service.postgres.withConnection { connection in
                try await connection.query("SELECT pg_advisory_lock(20)")
                let late = try await follow.follower(of: ada, from: .now)
                let first = Task {
                    while true {
                        if case .changes(let batch) = try await late.nextEvent() { return batch.changes.map(\.id) }
                    }
                }
                try await poll("it reads") { try await waiting(connection, for: "advisory") >= 1 }
                let stream = try await change("x", connection)
                ChangeNotifier(postgres: service.postgres).notify([.stream(stream)])
                #expect(try await followers[0].nextChanges().map(\.id) == ["x"])
                try await connection.query("SELECT pg_advisory_unlock(20)")
                #expect(try await first.value == ["x"])
            }
        }
    }

    @Test("A reader who loses a role while its stream is read for all gets no later changes")
    func lostRole() async throws {
        try await TestService.runWithFollowers { service, follow, owner, ada, _ in
            try await service.put("priorities/p", as: owner, #"{"data":{"name":"before"}}"#)
            let (synced, isSynced) = AsyncStream.makeStream(of: Void.self)
            let next = Task {
                defer { isSynced.finish() }
                let follower = try await follow.follower(of: ada)
                #expect(try await follower.nextChanges().map(\.id) == ["p"])
                guard case .synced = try await follower.nextEvent() else {
                    throw Unexpected(description: "not synced")
                }
                isSynced.finish()
                return try await follower.nextEvent()
            }
            for await _ in synced {}
            let notifier = ChangeNotifier(postgres: service.postgres)
            try await service.postgres.withConnection { connection in
                try await connection.execute(script: "BEGIN; LOCK TABLE grants IN ACCESS EXCLUSIVE MODE")
                notifier.notify([.stream(try await stream(of: "p", connection))])
                try await poll("the stream is read") { try await waiting(connection, for: "relation") == 1 }
                try await connection.execute("DELETE FROM role_members WHERE user_id = \(ada.userID)")
                try await change("p", connection)
                let listener = ChangeListener(ChangeReader(userID: ada.userID, sessionID: nil))
                follow.hub.add(listener)
                notifier.notify([.user(ada.userID)])
                try await poll("the readers are woken") { listener.news.needsRead }
                follow.hub.remove(listener)
                try await connection.execute(script: "COMMIT")
                guard case .reset(.access) = try await next.value else {
                    throw Unexpected(description: "something came after the role was lost")
                }
            }
        }
    }

    /// The stream of the collection, or of the member's role, that shows a record.
    private func stream(of id: String, _ connection: PostgresConnection) async throws -> Int {
        let rows = try await connection.query(
            """
            SELECT stream_id FROM grants JOIN streams ON streams.id = stream_id JOIN records ON key = record_key
            WHERE records.id = \(id)
            AND (streams.collection_id IS NOT NULL OR role_id = (SELECT id FROM roles WHERE name = 'team'))
            """
        )
        return try rows[0].decode("stream_id")
    }

    /// Changes a record, as a transaction with a lock on the tables can.
    ///
    /// - Returns: The stream that shows it.
    @discardableResult
    private func change(_ id: String, _ connection: PostgresConnection) async throws -> Int {
        let stream = try await stream(of: id, connection)
        try await connection.execute("UPDATE streams SET seq = seq + 1 WHERE id = \(stream)")
        try await connection.execute(
            """
            UPDATE grants SET seq = streams.seq FROM streams, records
            WHERE streams.id = \(stream) AND stream_id = streams.id AND record_key = key AND records.id = \(id)
            """
        )
        return stream
    }

    /// How many statements wait for a lock in the connection's database.
    private func waiting(_ connection: PostgresConnection, for kind: String) async throws -> Int {
        let rows = try await connection.query(
            """
            SELECT count(*) AS count FROM pg_locks WHERE locktype = \(kind) AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        )
        return try rows[0].decode("count")
    }
}
