import DatabaseTestSupport
import ServerProcesses
import Synchronization
import Testing

@testable import Postgres

@Suite("The pool")
struct ConnectionPoolTests {
    private final class Count: Sendable {
        let count = Mutex(0)
    }

    @Test("Queries one after another share one connection")
    func reuse() async throws {
        try await withClient { client, url in
            var processIDs: Set<Int> = []
            for _ in 0..<20 {
                processIDs.insert(try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid"))
            }
            #expect(processIDs.count == 1)
            let sessions = try await Sessions.watching(url) { try await $0.count() }
            #expect(sessions == 1)
        }
    }

    @Test("A hundred parallel queries open no more connections than allowed, and all are answered")
    func limit() async throws {
        try await withClient(maxConnections: 5) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                try await HeldLock.holding(url) { lock async throws in
                    // So many that five connections can't take them all at once.
                    let tasks = (0..<100).map { number in
                        Task {
                            let row = try await client.read(
                                "SELECT \(number) AS number, pg_backend_pid() AS pid, pg_advisory_xact_lock_shared(1)"
                            )[0]
                            return (
                                number: try row.decode("number", as: Int.self), pid: try row.decode("pid", as: Int.self)
                            )
                        }
                    }
                    try await poll("five sessions wait for the lock") { try await sessions.countWaiting() == 5 }
                    try await poll("20 callers wait") { await client.waiterCount == 20 }
                    // Beside them there is the one that holds the lock.
                    #expect(try await sessions.count() == 6)
                    try await lock.release()
                    var answers: [(number: Int, pid: Int)] = []
                    for task in tasks { answers.append(try await task.value) }
                    #expect(answers.map(\.number) == Array(0..<100))
                    #expect(Set(answers.map(\.pid)).count == 5)
                    #expect(try await sessions.count() == 6)
                }
            }
        }
    }

    @Test("An urgent statement does not wait for the line")
    func urgent() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            let ended = Count()
            let reads = (0..<600).map { _ in
                Task {
                    _ = try await client.read("SELECT pg_sleep(0.005)")
                    ended.count.withLock { $0 += 1 }
                }
            }
            try await poll("many wait") { await client.waiterCount > 100 }
            _ = try await client.readFirst("SELECT 1", name: "urgent")
            #expect(ended.count.withLock { $0 } < 300)
            for read in reads { try await read.value }
            #expect(ended.count.withLock { $0 } == 600)
        }
    }

    @Test("A flood of writes that wait for a lock keeps no reader out, and is refused after two seconds")
    func flood() async throws {
        try await withClient(maxConnections: 1) { other, url async throws in
            try await other.write("CREATE TABLE things (id int)")
            try await other.write("INSERT INTO things VALUES (1)")
            try await ClockedClient.run(url: url, maxConnections: 4) { clocked async throws in
                let client = clocked.client
                let writes = try await other.withTransaction { connection async throws in
                    try await connection.query("SELECT id FROM things FOR UPDATE")
                    let writes = (0..<200).map { _ in Task { try await client.write("UPDATE things SET id = id + 1") }
                    }
                    try await clocked.waitUntilWaiting(197)
                    try await clocked.waitUntilUnderWay(3)
                    for _ in 0..<20 { #expect(try await client.read("SELECT id FROM things").count == 1) }
                    await clocked.advance(by: .milliseconds(1_999))
                    #expect(await client.waiterCount == 197)
                    await clocked.advance(by: .milliseconds(1))
                    #expect(await client.waiterCount == 0)
                    #expect(try await client.read("SELECT id FROM things").count == 1)
                    return writes
                }
                var (written, refused) = (0, 0)
                for write in writes {
                    switch await write.result {
                    case .success: written += 1
                    case .failure(PostgresError.leaseTimedOut): refused += 1
                    case .failure(let error): Issue.record("\(String(reflecting: error))")
                    }
                }
                #expect(written == 3 && refused == 197)
            }
        }
    }

    @Test("A caller without a connection after two seconds is refused, and the queue moves on")
    func leaseTimeout() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await ClockedClient.run(url: url) { clocked async throws in
                let client = clocked.client
                try await client.withConnection { connection in
                    let late = Task { try await client.read("SELECT 1") }
                    try await clocked.waitUntilWaiting(1)
                    await clocked.advance(by: .milliseconds(1_999))
                    #expect(await client.waiterCount == 1)
                    await clocked.advance(by: .milliseconds(1))
                    let error = await #expect(throws: PostgresError.self) { try await late.value }
                    guard case .leaseTimedOut = error else {
                        Issue.record("\(String(reflecting: error))")
                        return
                    }
                    #expect(error?.isUnavailable == true)
                    #expect(try await connection.query("SELECT 1").count == 1)
                }
                #expect(try await client.read("SELECT 1").count == 1)
            }
        }
    }

    @Test("More callers than may wait are refused at once")
    func tooManyWaiting() async throws {
        try await withClient(maxConnections: 1, adjust: { $0.pool.maxWaiters = 3 }) { client, _ async throws in
            try await client.withConnection { connection in
                let waiting = (0..<3).map { _ in Task { try await client.read("SELECT 1").count } }
                try await poll("three callers wait") { await client.waiterCount == 3 }
                let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT 1") }
                guard case .tooManyWaiting = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                #expect(error?.isUnavailable == true)
                for task in waiting { task.cancel() }
            }
        }
    }

    @Test("An idle connection is closed after a minute, but for one; an old one after an hour")
    func retirement() async throws {
        try await withClient(maxConnections: 1) { other, url async throws in
            let sessions = {
                try await other.read(
                    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                ).count
            }
            try await ClockedClient.run(url: url, maxConnections: 3) { clocked async throws in
                try await clocked.client.withConnection { _ in
                    _ = try await clocked.client.withConnection { try await $0.query("SELECT 1") }
                }
                await clocked.advance(by: .milliseconds(59_999))
                #expect(try await sessions() == 2)
                await clocked.advance(by: .milliseconds(1))
                try await poll("one is closed") { try await sessions() == 1 }
                // The time at which one grows old is up to a tenth less.
                await clocked.advance(by: .seconds(3_600 * 9 / 10 - 61))
                #expect(try await sessions() == 1)
                await clocked.advance(by: .seconds(3_600 / 10 + 1))
                try await poll("the other is closed") { try await sessions() == 0 }
                #expect(try await clocked.client.read("SELECT 1").count == 1)
            }
        }
    }

    @Test("A task that is cancelled while it waits stops waiting at once", .timeLimit(.minutes(1)))
    func cancelledWaiter() async throws {
        try await withClient(maxConnections: 1) { client, _ async throws in
            try await client.withConnection { connection in
                let task = Task { try await client.read("SELECT 1") }
                try await poll("it waits") { await client.waiterCount == 1 }
                task.cancel()
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                guard case .cancelled = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                #expect(await client.waiterCount == 0)
                #expect(try await connection.query("SELECT 1").count == 1)
            }
            #expect(try await client.read("SELECT 1").count == 1)
        }
    }

    @Test("A task that is cancelled already gets no connection")
    func cancelledBefore() async throws {
        try await withClient(maxConnections: 1) { client, _ async throws in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.read("SELECT 1")
            }
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            guard case .cancelled = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(try await client.read("SELECT 1").count == 1)
        }
    }

    @Test("However many tasks are cancelled, no connection is lost", .timeLimit(.minutes(1)))
    func stormOfCancellations() async throws {
        try await withClient(maxConnections: 2) { client, url in
            var cancelled = 0
            for _ in 0..<10 {
                let tasks = (0..<30).map { _ in
                    Task { try await client.read("SELECT count(*) FROM generate_series(1, 2000)") }
                }
                for (number, task) in tasks.enumerated() where number % 2 == 0 { task.cancel() }
                for (number, task) in tasks.enumerated() {
                    let result = await task.result
                    if number % 2 == 1 { #expect(throws: Never.self) { try result.get() } }
                    if case .failure(PostgresError.cancelled) = result { cancelled += 1 }
                }
            }
            #expect(cancelled > 0)
            let meeting = Meeting(of: 2)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await client.withConnection { connection in
                            await meeting.arrive()
                            try await connection.query("SELECT 1")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let sessions = try await Sessions.watching(url) { try await $0.count() }
            #expect(sessions == 2)
        }
    }

    @Test(
        "A closed client refuses new and waiting callers, and lets running statements finish",
        .timeLimit(.minutes(1))
    )
    func close() async throws {
        try await withClient(maxConnections: 1) { client, url in
            let waiter = try await client.withConnection { connection in
                let waiter = Task { try await client.read("SELECT 1") }
                try await poll("it waits") { await client.waiterCount == 1 }
                await client.close()
                #expect(try await connection.query("SELECT 1").count == 1)
                return waiter
            }
            for task in [waiter, Task { try await client.read("SELECT 1") }] {
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                guard case .clientClosed = error else {
                    Issue.record("\(String(reflecting: error))")
                    continue
                }
            }
            await client.close()
            try await Sessions.watching(url) { sessions async throws in
                try await poll("no session is left") { try await sessions.count() == 0 }
            }
        }
    }
}
