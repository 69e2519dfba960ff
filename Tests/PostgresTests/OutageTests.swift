import DatabaseTestSupport
import TestSupport
import Testing

@testable import Postgres

@Suite("When the database fails", .timeLimit(.minutes(2)))
struct OutageTests {
    @Test("A statement over its time is cancelled at the server in bounded time, and its connection is used again")
    func statementTimeout() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.statementTimeout = .seconds(2) }) { client, _ in
            let before = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
            let start = ContinuousClock.now
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT pg_sleep(30)") }
            let duration = ContinuousClock.now - start
            #expect(duration > .milliseconds(1_990) && duration < .seconds(20))
            guard case .statementTimedOut = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(error?.isUnavailable == true)
            let after = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
            #expect(after == before)
        }
    }

    @Test("An idle connection that the server ended is noticed, and the next query works")
    func idleConnectionsEnded() async throws {
        try await withClient(connectionsMax: 4) { client, url in
            // Three at once take three connections.
            try await client.withConnection { first in
                try await client.withConnection { second in
                    try await client.withConnection { third in
                        for connection in [first, second, third] { try await connection.query("SELECT 'idle' AS word") }
                    }
                }
            }
            try await Sessions.watching(url) { sessions async throws in
                #expect(try await sessions.terminate(running: "SELECT 'idle'") == 3)
                for _ in 0..<3 {
                    #expect(try await client.query("SELECT 1 AS one")[0].decode("one", as: Int.self) == 1)
                }
                #expect(try await sessions.count() == 1)
            }
        }
    }

    @Test("A connection that is ended in the middle of a statement is lost, and the next query works")
    func busyConnectionEnded() async throws {
        try await withClient(connectionsMax: 1) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let task = Task { try await client.query("SELECT pg_sleep(30) AS busy") }
                #expect(try await eventually { try await sessions.terminate(running: "SELECT pg_sleep") == 1 })
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                guard case .connectionLost(let detail) = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                #expect(detail.contains("terminating connection"))
                #expect(error?.isUnavailable == true)
                #expect(try await client.query("SELECT 1").count == 1)
            }
        }
    }

    @Test(
        "A server that can't be reached is told in bounded time",
        arguments: [
            "postgresql://nobody@127.0.0.1:1/none",
            "postgresql://nobody@no-such-host.invalid/none",
            "postgresql://nobody@%2Fno%2Fsuch%2Ffolder/none",
            "postgresql://nobody@127.0.0.1:1,127.0.0.1:2/none",
        ]
    )
    func unreachable(url: String) async throws {
        try await expectCannotConnect(url: url)
    }

    @Test("A server that takes connections and never answers is given up in time", arguments: ["prefer", "disable"])
    func silentServer(sslMode: String) async throws {
        let server = try SilentServer()
        try await expectCannotConnect(
            url: "postgresql://nobody@127.0.0.1:\(server.port)/none?sslmode=\(sslMode)",
            connectTimeout: .milliseconds(300)
        )
    }

    @Test("A database that does not exist is told in bounded time, without its name in the description")
    func noDatabase() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let error = try await expectCannotConnect(url: url + "_and_more")
            #expect(String(reflecting: error).contains("_and_more"))
            #expect(!"\(error)".contains("_and_more"))
        }
    }

    @Test("A wrong password is refused")
    func wrongPassword() async throws {
        try await TestCluster.withEmptyDatabase { url in
            // The cluster trusts its socket, so the role that may not log in stands in for the wrong password.
            let role = "locked_out_\(UInt32.random(in: 0 ... .max))"
            try await withClient(url: url) { client in
                try await client.withConnection { try await $0.execute(script: "CREATE ROLE \(role) NOLOGIN") }
            }
            let error = try await expectCannotConnect(url: url.replacing("//selfie@", with: "//\(role):secret@"))
            #expect(String(reflecting: error).contains(role))
            #expect(!"\(error)".contains(role))
            try await withClient(url: url) { client in
                try await client.withConnection { try await $0.execute(script: "DROP ROLE \(role)") }
            }
        }
    }

    @Test("Callers who wait for a connection that can't be opened are all told")
    func everybodyIsTold() async throws {
        try await withClient(url: "postgresql://nobody@127.0.0.1:1/none", connectionsMax: 2) { client in
            let failures = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        do {
                            _ = try await client.query("SELECT 1")
                            return false
                        } catch {
                            guard case PostgresError.cannotConnect = error else { return false }
                            return true
                        }
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(failures == 20)
        }
    }

    @discardableResult
    private func expectCannotConnect(
        url: String,
        connectTimeout: Duration = .seconds(5)
    ) async throws -> PostgresError {
        try await withClient(url: url, adjust: { $0.connectTimeout = connectTimeout }) { client in
            let start = ContinuousClock.now
            let error = try #require(
                await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
            )
            #expect(ContinuousClock.now - start < .seconds(20))
            if case .cannotConnect = error {} else { Issue.record("\(String(reflecting: error))") }
            #expect(error.isUnavailable)
            return error
        }
    }
}
