import DatabaseTestSupport
import ServerProcesses
import Testing

@testable import Postgres

@Suite("Look-ups of many callers in one statement", .timeLimit(.minutes(2)))
struct PostgresLookupTests {
    /// Finds a number by a key of one byte.
    ///
    /// The key 0 waits for the test's lock, and 255 fails.
    private static let numbers = PostgresLookup(
        columns: "number, waited, 1 / (255 - get_byte(asked.key, 0)) AS failure",
        source: """
            FROM things, LATERAL (
                SELECT CASE WHEN asked.key = '\\x00' THEN pg_advisory_xact_lock_shared(1)::text END AS waited
            ) AS waiting WHERE things.key = asked.key
            """
    )

    private static func fill(_ client: PostgresClient) async throws {
        try await client.withConnection { connection in
            try await connection.execute(
                script: """
                    CREATE TABLE things (key bytea PRIMARY KEY, number int);
                    INSERT INTO things SELECT set_byte('\\x00', 0, n), n FROM generate_series(0, 255) AS n WHERE n % 7 <> 6
                    """
            )
        }
    }

    /// Looks a key up; nil when it has no row.
    private static func find(_ key: Int, _ client: PostgresClient) async throws -> Int? {
        try await client.lookUp(numbers, key: [UInt8(key)])?.decode("number")
    }

    @Test("Each caller gets the row of their own key, or none", arguments: [1, 3])
    func answers(maxConnections: Int) async throws {
        try await withClient(maxConnections: maxConnections) { client, _ in
            try await Self.fill(client)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<100 {
                    group.addTask { () async throws in
                        for round in 1...20 {
                            let key = (worker * 37 + round) % 254 + 1
                            let found = try await Self.find(key, client)
                            #expect(found == (key % 7 == 6 ? nil : key))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("Those that come while one is under way go together, at most 64 at a time, and again after 20 milliseconds")
    func together() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await withClient(url: url) { try await Self.fill($0) }
            try await HeldLock.holding(url) { lock async throws in
                try await ClockedClient.run(url: url, maxConnections: 2) { clocked async throws in
                    let client = clocked.client
                    func waitUntilAsked(_ count: Int) async throws {
                        try await poll("\(count) callers") { await client.lookupCallerCount == count }
                    }
                    let slow = Task { try await Self.find(0, client) }
                    try await clocked.waitUntilUnderWay(1)
                    await clocked.advance(by: .milliseconds(19))
                    let others = (1...70).map { key in Task { try await Self.find(key, client) } }
                    try await waitUntilAsked(71)
                    #expect(await client.underWayCount == 1)

                    // No caller waits behind it any longer.
                    await clocked.advance(by: .milliseconds(1))
                    for (index, task) in others.enumerated() {
                        #expect(try await task.value == ((index + 1) % 7 == 6 ? nil : index + 1))
                    }
                    #expect(await client.lookupCallerCount == 1)
                    try await lock.release()
                    #expect(try await slow.value == 0)
                }
            }
        }
    }

    @Test("The statements are as few as the batches")
    func batches() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await withClient(url: url) { try await Self.fill($0) }
            try await HeldLock.holding(url) { lock async throws in
                try await ClockedClient.run(url: url) { clocked async throws in
                    let client = clocked.client
                    let tasks = [0] + (1...70).map { $0 }
                    let slow = Task { try await Self.find(tasks[0], client) }
                    try await clocked.waitUntilUnderWay(1)
                    let others = tasks.dropFirst().map { key in Task { try await Self.find(key, client) } }
                    try await poll("all came") { await client.lookupCallerCount == 71 }
                    try await lock.release()
                    _ = try await slow.value
                    for task in others { _ = try await task.value }
                    // The one that waited, one with 64 keys and one with 6.
                    let rows = try await client.read(
                        "SELECT generic_plans + custom_plans AS calls FROM pg_prepared_statements ORDER BY calls DESC"
                    )
                    let calls: Int = try rows[0].decode("calls")
                    #expect(calls == 3)
                }
            }
        }
    }

    @Test("The server plans a look-up once, however many keys it has")
    func plans() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await Self.fill(client)
            for round in 0..<12 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for key in 1...(1 + round * 5 % 30) { group.addTask { _ = try await Self.find(key, client) } }
                    try await group.waitForAll()
                }
            }
            let row = try await client.read(
                "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE '%ORDINALITY%'"
            )[0]
            #expect(try row.decode("custom_plans", as: Int.self) <= 5)
            #expect(try row.decode("generic_plans", as: Int.self) >= 6)
        }
    }

    @Test("A cancelled caller is let go at once, waiting or under way, and the others get their answers")
    func cancellation() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await withClient(url: url) { try await Self.fill($0) }
            try await HeldLock.holding(url) { _ async throws in
                try await withClient(url: url, maxConnections: 1, adjust: { $0.pool.slowness = .seconds(60) }) {
                    client async throws in
                    let slow = Task { try await Self.find(0, client) }
                    try await poll("it is under way") { await client.underWayCount == 1 }
                    let waiting = (1...3).map { key in Task { try await Self.find(key, client) } }
                    try await poll("all came") { await client.lookupCallerCount == 4 }
                    for task in [slow, waiting[1]] {
                        task.cancel()
                        let error = await #expect(throws: PostgresError.self) { try await task.value }
                        guard case .cancelled = error else {
                            Issue.record("\(String(describing: error))")
                            return
                        }
                    }
                    // The statement without waiting callers is cancelled, though the lock is held.
                    #expect(try await waiting[0].value == 1)
                    #expect(try await waiting[2].value == 3)
                }
            }
        }
    }

    @Test("A statement's failure is that of all its callers, and the next look-up works")
    func failure() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await Self.fill(client)
            let error = await #expect(throws: PostgresError.self) { try await Self.find(255, client) }
            #expect(error?.sqlState?.code == "22012")
            #expect(try await Self.find(1, client) == 1)
        }
    }

    @Test("The number of waiting callers is limited, and each gets an error when the client is closed")
    func limit() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await withClient(url: url) { try await Self.fill($0) }
            try await HeldLock.holding(url) { lock async throws in
                try await ClockedClient.run(url: url, adjust: { $0.pool.maxWaiters = 3 }) { clocked async throws in
                    let client = clocked.client
                    let first = Task { try await Self.find(0, client) }
                    try await clocked.waitUntilUnderWay(1)
                    let others = (1...2).map { key in Task { try await Self.find(key, client) } }
                    try await poll("all came") { await client.lookupCallerCount == 3 }
                    let error = await #expect(throws: PostgresError.self) { try await Self.find(1, client) }
                    guard case .tooManyWaiting = error else {
                        Issue.record("\(String(describing: error))")
                        return
                    }
                    await client.close()
                    try await lock.release()
                    #expect(try await first.value == 0)
                    for task in others { await #expect(throws: PostgresError.self) { try await task.value } }
                    let closed = await #expect(throws: PostgresError.self) { try await Self.find(1, client) }
                    guard case .clientClosed = closed else {
                        Issue.record("\(String(describing: closed))")
                        return
                    }
                }
            }
        }
    }
}

extension PostgresClient {
    /// How many callers of look-ups have no answer yet.
    fileprivate var lookupCallerCount: Int {
        get async {
            var count = 0
            for pool in pools { count += await pool.lookupCallerCount }
            return count
        }
    }
}
