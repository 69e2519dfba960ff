import DatabaseTestSupport
import Glibc
import NIOCore
import ServerProcesses
import TestSupport
import Testing

@testable import Postgres

@Suite("Sessions that end while their connection is lent", .timeLimit(.minutes(2)))
struct LostLeaseTests {
    /// Ends all sessions, and waits until the client knows.
    private static func end(_ sessions: Sessions, of client: PostgresClient) async throws {
        #expect(try await sessions.terminate(running: "") >= 1)
        try await poll("the end is noticed") { await client.connectionCount == 0 }
    }

    private static func isUnavailable(_ error: (any Error)?) -> Bool {
        switch error {
        case let error as PostgresError: error.isUnavailable
        case let error as PostgresTransactionError: error.postgresError.isUnavailable
        default: false
        }
    }

    @Test("Before the first statement: it runs on another connection, without an error", arguments: [1, 4])
    func unused(maxConnections: Int) async throws {
        try await withClient(maxConnections: maxConnections) { client, url in
            try await client.write("CREATE TABLE things (id int)")
            try await Sessions.watching(url) { sessions async throws in
                for round in 1...3 {
                    let count = try await client.withConnection { connection in
                        try await Self.end(sessions, of: client)
                        let count = try await connection.execute("INSERT INTO things VALUES (\(round))")
                        // The rest of the loan stays on that connection.
                        try await connection.query("SET application_name = 'lent'")
                        let name = try await connection.query("SELECT current_setting('application_name') AS name")
                        #expect(try name[0].decode("name", as: String.self) == "lent")
                        return count
                    }
                    #expect(count == 1)
                    #expect(try await client.read("SELECT FROM things").count == round)
                }
                #expect(await client.connectionCount <= maxConnections)
            }
        }
    }

    @Test("Before the first statement of a transaction: it begins on another connection")
    func beforeTransaction() async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await client.write("CREATE TABLE things (id int)")
            try await Sessions.watching(url) { sessions async throws in
                try await client.withConnection { connection in
                    try await Self.end(sessions, of: client)
                    try await connection.query("BEGIN")
                    try await connection.execute("INSERT INTO things VALUES (1)")
                    try await connection.query("COMMIT")
                }
                #expect(try await client.read("SELECT FROM things").count == 1)
            }
        }
    }

    @Test("After the first statement: the connection is lost, since what it set is lost, too")
    func used() async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let (error, connection) = try await client.withConnection { connection in
                    try await connection.query("SET application_name = 'lent'")
                    try await Self.end(sessions, of: client)
                    let error = await #expect(throws: PostgresError.self) {
                        try await connection.query("SELECT 1 AS one")
                    }
                    await #expect(throws: PostgresError.self, "no other connection comes later") {
                        try await connection.query("SELECT 1 AS one")
                    }
                    return (error, connection)
                }
                guard case .connectionLost = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                let later = await #expect(throws: PostgresError.self) { try await connection.query("SELECT 1 AS one") }
                guard case .leaseEnded = later else {
                    Issue.record("the pool still knows the lease: \(String(reflecting: later))")
                    return
                }
                #expect(try await client.read("SELECT 1 AS one").count == 1)
            }
        }
    }

    @Test(
        "In a transaction: nothing of it is there, and it counts as an outage",
        arguments: ["begun", "written", "caught"]
    )
    func inTransaction(step: String) async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await client.write("CREATE TABLE things (id int)")
            try await Sessions.watching(url) { sessions async throws in
                var caught: (any Error)?
                do {
                    try await client.withTransaction { connection in
                        if step != "begun" { try await connection.execute("INSERT INTO things VALUES (1)") }
                        try await Self.end(sessions, of: client)
                        // The second is for COMMIT to notice.
                        if step != "written" { _ = try? await connection.execute("INSERT INTO things VALUES (2)") }
                    }
                } catch {
                    caught = error
                }
                #expect(Self.isUnavailable(caught), "\(String(reflecting: caught))")
                #expect(try await client.read("SELECT FROM things").isEmpty)
            }
        }
    }

    @Test("Unnoticed, or during a statement: the statement fails as in an outage", arguments: ["end", "cancel"])
    func during(kind: String) async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let running = Task { try await client.write("SELECT pg_sleep(600)") }
                try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
                if kind == "end" {
                    #expect(try await sessions.terminate(running: "SELECT pg_sleep") == 1)
                } else {
                    #expect(try await sessions.cancel(running: "SELECT pg_sleep") == 1)
                }
                let error = await #expect(throws: PostgresError.self) { try await running.value }
                #expect(error?.isUnavailable == true, "\(String(reflecting: error))")
                #expect(try await client.read("SELECT 1 AS one").count == 1)
            }
        }
    }

    @Test("A statement whose end could not be sent is answered as lost once, and never sent again")
    func unsynchronized() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.withConnection { connection in
                let pool = client.pools[0]
                let error: Result<PostgresRows, PostgresError> = await withCheckedContinuation { answer in
                    pool.eventLoop.execute {
                        pool.assumeIsolated { pool in
                            // The pool has not noticed yet when it sends.
                            let socket = pool.members.all[0].connection.libpq.socket
                            #expect(socket.map { shutdown($0, CInt(SHUT_RDWR)) } == 0)
                            let statement = Statement(
                                id: pool.makeID(),
                                content: .query("SELECT 1 AS one"),
                                timeout: nil,
                                purpose: .leased,
                                start: pool.now,
                                completion: { answer.resume(returning: $0) }
                            )
                            pool.send(statement, on: connection.lease)
                        }
                    }
                }
                guard case .failure(.connectionLost) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(await client.waiterCount == 0)
                // It may have taken effect, so the next one of the loan does not go to another connection.
                await #expect(throws: PostgresError.self) { try await connection.query("SELECT 2 AS two") }
            }
            // The only connection is free now.
            #expect(try await client.read("SELECT 1 AS one").count == 1)
        }
    }

    @Test("A connection that is used after the loan is a mistake of the caller's")
    func afterwards() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            let connection = try await client.withConnection { $0 }
            let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT 1 AS one") }
            guard case .leaseEnded = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(error?.isUnavailable == false)
        }
    }

    @Test("The first statement waits for another connection no longer than a caller may")
    func noOther() async throws {
        try await withClient(maxConnections: 1, adjust: { $0.pool.leaseTimeout = .milliseconds(200) }) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                try await client.withConnection { connection in
                    try await Self.end(sessions, of: client)
                    // A busy machine may take longer to connect than a caller waits here.
                    try await poll("another connection is open") {
                        (try? await client.read("SELECT 1 AS one")) != nil
                    }
                    try await client.withConnection { other in
                        try await other.query("SELECT 1 AS one")
                        for _ in 0..<2 {
                            let error = await #expect(throws: PostgresError.self) {
                                try await connection.query("SELECT 1 AS one")
                            }
                            #expect(error?.isUnavailable == true, "\(String(reflecting: error))")
                        }
                    }
                }
                #expect(try await client.read("SELECT 1 AS one").count == 1)
            }
        }
    }

    @Test("Unnoticed before the first statement: it runs, or fails as in an outage, and never looks like misuse")
    func unnoticed() async throws {
        try await withClient(maxConnections: 2) { client, url in
            try await client.write("CREATE TABLE things (id int)")
            try await Sessions.watching(url) { sessions async throws in
                var count = 0
                for round in 0..<20 {
                    do {
                        try await client.withConnection { connection in
                            // The client learns of it at some time around the statement.
                            #expect(try await sessions.terminate(running: "") >= 1)
                            if round.isMultiple(of: 2) { await Task.yield() }
                            try await connection.execute("INSERT INTO things VALUES (\(round))")
                        }
                        count += 1
                    } catch {
                        #expect(Self.isUnavailable(error), "\(String(reflecting: error))")
                    }
                }
                let rows = try await client.read("SELECT FROM things").count
                #expect(rows >= count)
            }
        }
    }

    @Test("Of two statements at once, one gets another connection: a loan never has two")
    func twoAtOnce() async throws {
        try await withClient(maxConnections: 4) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                try await client.withConnection { connection in
                    try await Self.end(sessions, of: client)
                    let waiting = (0..<2).map { _ in
                        Task { try await connection.query("SELECT pg_backend_pid() AS pid, pg_sleep(0.05)") }
                    }
                    var errors: [any Error] = []
                    for statement in waiting {
                        if case .failure(let error) = await statement.result { errors.append(error) }
                    }
                    #expect(errors.count == 1 && Self.isUnavailable(errors.first))
                }
                #expect(await client.connectionCount == 1)
            }
        }
    }

    @Test("A caller that is cancelled while it waits for another connection is let go")
    func cancelled() async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                try await client.withConnection { connection in
                    try await Self.end(sessions, of: client)
                    try await client.withConnection { _ in
                        let waiting = Task { try await connection.query("SELECT 1 AS one") }
                        try await Task.sleep(for: .milliseconds(20))
                        waiting.cancel()
                        let error = await #expect(throws: PostgresError.self) { try await waiting.value }
                        guard case .cancelled = error else {
                            Issue.record("\(String(reflecting: error))")
                            return
                        }
                    }
                }
                #expect(try await client.read("SELECT 1 AS one").count == 1)
            }
        }
    }
}
