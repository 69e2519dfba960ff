import CLibPQ
import ConnectionTestSupport
import DatabaseTestSupport
import ServerProcesses
import Testing

@testable import Postgres

@Suite("When the database fails", .timeLimit(.minutes(2)))
struct PoolOutageTests {
    @Test("A statement over its time is cancelled at the server, and its connection is used again")
    func statementTimeout() async throws {
        try await withClient(maxConnections: 1, adjust: { $0.statementTimeout = .milliseconds(50) }) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT pg_sleep(600)") }
                guard case .statementTimedOut = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                #expect(error?.isUnavailable == true)
                #expect(try await sessions.count(running: "SELECT pg_sleep") == 0)
                let before = try await sessions.processIDs()
                #expect(before.count == 1)
                // On a busy machine, this one may take too long as well.
                try await poll("the connection is used") { (try? await client.read("SELECT 1")) != nil }
                #expect(try await sessions.processIDs() == before)
            }
        }
    }

    @Test("The server's statement_timeout is two and a half seconds, unless it is set otherwise")
    func statementTimeoutSetting() async throws {
        #expect(try PostgresConfiguration(url: "postgresql:///db").statementTimeout == .milliseconds(2_500))
        let url = try await TestCluster.scratchDatabase()
        for (timeout, expected) in [(.milliseconds(2_500), "2500ms"), (.seconds(4), "4s"), (nil, "0")]
            as [(Duration?, String)]
        {
            let setting = try await withClient(url: url, adjust: { $0.statementTimeout = timeout }) { client in
                try await client.read("SELECT current_setting('statement_timeout') AS setting")[0]
                    .decode("setting", as: String.self)
            }
            #expect(setting == expected)
        }
    }

    @Test("The server compiles no statement")
    func compilation() async throws {
        let setting = try await withClient(url: try await TestCluster.scratchDatabase()) { client in
            try await client.read("SELECT current_setting('jit') AS setting")[0].decode("setting", as: String.self)
        }
        #expect(setting == "off")
    }

    @Test("An idle connection that the server ended is noticed, and the next query works")
    func idleConnectionsEnded() async throws {
        try await withClient(maxConnections: 4) { client, url in
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
                try await poll("all three are noticed") { await client.connectionCount == 0 }
                for _ in 0..<3 {
                    #expect(try await client.read("SELECT 1 AS one")[0].decode("one", as: Int.self) == 1)
                }
                #expect(try await sessions.count() == 1)
            }
        }
    }

    @Test("A connection to a server that turned into one that only reads is given up, and the next write works")
    func readOnlyServer() async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                _ = try await client.read("SELECT set_config('default_transaction_read_only', 'on', false)")
                let before = try await sessions.processIDs()
                let error = await #expect(throws: PostgresError.self) {
                    try await client.read("CREATE TABLE things (id int)")
                }
                #expect(error?.sqlState == .readOnlyTransaction && error?.isUnavailable == true)
                try await client.write("CREATE TABLE things (id int)")
                let after = try await sessions.processIDs()
                #expect(after.count == 1 && after != before)
            }
        }
    }

    @Test("A connection that is ended in the middle of a statement is lost, and the next query works")
    func busyConnectionEnded() async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let task = Task { try await client.read("SELECT pg_sleep(30) AS busy") }
                try await poll("it runs") { try await sessions.terminate(running: "SELECT pg_sleep") == 1 }
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                guard case .connectionLost(let detail) = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                #expect(detail.contains("terminating connection"))
                #expect(error?.isUnavailable == true)
                #expect(try await client.read("SELECT 1").count == 1)
            }
        }
    }

    @Test(
        "An unreachable server is reported",
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

    @Test("A caller is refused after two seconds if the server accepts connections and never answers")
    func silentServer() async throws {
        let server = try SilentServer()
        let url = "postgresql://nobody@127.0.0.1:\(server.port)/none?sslmode=disable"
        try await ClockedClient.run(url: url, adjust: { $0.connectTimeout = .seconds(2) }) { clocked async throws in
            let late = Task { try await clocked.client.read("SELECT 1") }
            try await clocked.waitUntilWaiting(1)
            await clocked.advance(by: .seconds(2))
            let error = await #expect(throws: PostgresError.self) { try await late.value }
            #expect(error?.isUnavailable == true)
        }
    }

    @Test("A server that greets and then falls silent is given up in time")
    func silentAfterGreeting() async throws {
        try await GatedServer.run(before: try await TestCluster.scratchDatabase(), passes: 1) { server async throws in
            try await ClockedClient.run(url: server.url, adjust: { $0.pool.leaseTimeout = .seconds(60) }) { clocked in
                let late = Task { try await clocked.client.read("SELECT 1") }
                try await poll("it waits for an answer") { await clocked.client.settingUpCount == 1 }
                await clocked.advance(by: .milliseconds(19_999))
                #expect(await clocked.client.settingUpCount == 1)
                await clocked.advance(by: .milliseconds(1))
                #expect(await clocked.client.settingUpCount == 0)
                let error = await #expect(throws: PostgresError.self) { try await late.value }
                guard case .cannotConnect = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
            }
        }
    }

    @Test(
        "libpq's connect_timeout is in whole seconds, two at least",
        arguments: [
            (.milliseconds(300), "2"), (.seconds(2), "2"), (.milliseconds(3_900), "3"), (.seconds(5), "5"),
        ] as [(Duration, String)]
    )
    func connectTimeout(timeout: Duration, expected: String) async throws {
        var configuration = try PostgresConfiguration(url: try await TestCluster.scratchDatabase())
        configuration.connectTimeout = timeout
        let libpq = try LibPQ.connect(url: configuration.url, parameters: configuration.connectParameters)
        #expect(libpq.setting("connect_timeout") == expected)
    }

    @Test("A missing database is reported, without its name in the description")
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

    @Test("All callers that wait for a connection that can't be opened get the error")
    func everybodyIsTold() async throws {
        try await withClient(url: "postgresql://nobody@127.0.0.1:1/none", maxConnections: 2) { client in
            let failures = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        do {
                            _ = try await client.read("SELECT 1")
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
    private func expectCannotConnect(url: String) async throws -> PostgresError {
        try await withClient(url: url) { client in
            let error = try #require(
                await #expect(throws: PostgresError.self) { try await client.read("SELECT 1") }
            )
            if case .cannotConnect = error {} else { Issue.record("\(String(reflecting: error))") }
            #expect(error.isUnavailable)
            return error
        }
    }
}

extension LibPQ {
    /// What a connection was opened with.
    fileprivate func setting(_ keyword: String) -> String? {
        guard let options = PQconninfo(connection) else { return nil }
        defer { PQconninfoFree(options) }
        var option = options
        while let name = option.pointee.keyword {
            if String(cString: name) == keyword { return option.pointee.val.map { String(cString: $0) } }
            option += 1
        }
        return nil
    }
}
