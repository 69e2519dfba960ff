import Testing

@testable import Postgres

@Suite("The pool")
struct PoolTests {
    @Test("Queries one after another share one connection")
    func reuse() async throws {
        try await withClient { client, url in
            var processIDs: Set<Int> = []
            for _ in 0..<20 {
                processIDs.insert(try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid"))
            }
            #expect(processIDs.count == 1)
            let sessions = try await Sessions.watching(url) { try await $0.count() }
            #expect(sessions == 1)
        }
    }

    @Test("A hundred parallel queries open no more connections than allowed, and all are answered")
    func limit() async throws {
        try await withClient(connectionsMax: 5) { client, url in
            let answers = try await withThrowingTaskGroup(of: (Int, Int).self) { tasks in
                for number in 0..<100 {
                    tasks.addTask {
                        let row = try await client.query(
                            "SELECT \(number) AS number, pg_backend_pid() AS pid, pg_sleep(0.01) AS pause"
                        )[0]
                        return (try row.decode("number"), try row.decode("pid"))
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.map(\.0).sorted() == Array(0..<100))
            #expect(Set(answers.map(\.1)).count == 5)
            let sessions = try await Sessions.watching(url) { try await $0.count() }
            #expect(sessions == 5)
        }
    }

    @Test("A flood of writes that wait for a lock keeps no reader out")
    func flood() async throws {
        try await withClient(
            connectionsMax: 4,
            adjust: { $0.pool.leaseTimeout = .seconds(2) }
        ) { client, url async throws in
            try await client.execute("CREATE TABLE things (id int)")
            try await client.execute("INSERT INTO things VALUES (1)")
            try await withClient(url: url, connectionsMax: 1) { other async throws in
                try await other.withTransaction { connection async throws in
                    try await connection.query("SELECT id FROM things FOR UPDATE")
                    try await withThrowingTaskGroup(of: Void.self) { writes in
                        for _ in 0..<200 {
                            writes.addTask { _ = try? await client.execute("UPDATE things SET id = id + 1") }
                        }
                        // Longer than any of them waits.
                        let end = ContinuousClock.now + .seconds(3)
                        while ContinuousClock.now < end {
                            let rows = try await client.query("SELECT id FROM things")
                            #expect(rows.count == 1)
                        }
                        writes.cancelAll()
                    }
                }
            }
        }
    }

    @Test("Who gets no connection in time is told so, and the line goes on")
    func leaseTimeout() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.pool.leaseTimeout = .seconds(2) }) { client, _ in
            try await client.withConnection { _ in
                let start = ContinuousClock.now
                let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
                guard case .leaseTimedOut = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                #expect(error?.isUnavailable == true)
                #expect(ContinuousClock.now - start < .seconds(15))
            }
            #expect(try await client.query("SELECT 1").count == 1)
        }
    }

    @Test("A task that is cancelled while it waits stops waiting at once", .timeLimit(.minutes(1)))
    func cancelledWaiter() async throws {
        try await withClient(connectionsMax: 1) { client, _ async throws in
            try await client.withConnection { _ in
                let task = Task { try await client.query("SELECT 1") }
                try await client.waitUntilLent()
                task.cancel()
                let start = ContinuousClock.now
                await #expect(throws: PostgresError.self) { try await task.value }
                #expect(ContinuousClock.now - start < .seconds(5))
            }
            #expect(try await client.query("SELECT 1").count == 1)
        }
    }

    @Test("A task that is cancelled already gets no connection")
    func cancelledBefore() async throws {
        try await withClient(connectionsMax: 1) { client, _ async throws in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.query("SELECT 1")
            }
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            guard case .cancelled = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(try await client.query("SELECT 1").count == 1)
        }
    }

    @Test("However many tasks are cancelled, no connection is lost", .timeLimit(.minutes(1)))
    func stormOfCancellations() async throws {
        try await withClient(connectionsMax: 2) { client, url in
            for _ in 0..<10 {
                let tasks = (0..<30).map { _ in Task { try await client.query("SELECT pg_sleep(0.002)") } }
                for (number, task) in tasks.enumerated() where number % 2 == 0 { task.cancel() }
                for (number, task) in tasks.enumerated() {
                    let result = await task.result
                    if number % 2 == 1 { #expect(throws: Never.self) { try result.get() } }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { _ = try await client.query("SELECT pg_sleep(0.05)") } }
                try await group.waitForAll()
            }
            let sessions = try await Sessions.watching(url) { try await $0.count() }
            #expect(sessions <= 2)
        }
    }

    @Test("A closed client refuses, whoever waits too, and lets what runs come to its end", .timeLimit(.minutes(1)))
    func close() async throws {
        try await withClient(connectionsMax: 1) { client, url in
            let waiter = try await client.withConnection { connection in
                let waiter = Task { try await client.query("SELECT 1") }
                try await client.waitUntilLent()
                await client.close()
                #expect(try await connection.query("SELECT 1").count == 1)
                return waiter
            }
            for task in [waiter, Task { try await client.query("SELECT 1") }] {
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                guard case .clientClosed = error else {
                    Issue.record("\(String(reflecting: error))")
                    continue
                }
            }
            await client.close()
            try await Sessions.watching(url) { sessions async throws in
                #expect(try await eventually { try await sessions.count() == 0 })
            }
        }
    }
}
