import Testing

@testable import Postgres

@Suite("Transactions beside others", .timeLimit(.minutes(2)))
struct TransactionIsolationTests {
    private func withAccounts(_ body: (PostgresClient) async throws -> Void) async throws {
        try await withClient(adjust: { $0.retryPause = .microseconds(100) }) { client, _ in
            try await client.write("CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)")
            try await client.write("INSERT INTO accounts VALUES (1, 100), (2, 100)")
            try await body(client)
        }
    }

    private func balances(_ client: PostgresClient) async throws -> [Int] {
        try await client.read("SELECT balance FROM accounts ORDER BY id").map { try $0.decode("balance") }
    }

    @Test("Transactions that can't both have happened are tried again until they have, one after the other")
    func serializationFailures() async throws {
        try await withAccounts { client async throws in
            let attempts = Counter()
            // Of four connections three are lent: so many read the same sum before any of them writes.
            let meeting = Meeting(of: 3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in [1, 2, 1, 2] {
                    group.addTask {
                        try await client.withTransaction { connection in
                            attempts.count()
                            try await connection.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
                            let row = try await connection.query("SELECT sum(balance) AS sum FROM accounts")[0]
                            let sum: Int = try row.decode("sum")
                            await meeting.arrive()
                            try await connection.execute(
                                "UPDATE accounts SET balance = balance + \(sum) WHERE id = \(id)"
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Each doubles the sum that it saw: 200 four times.
            #expect(try await balances(client).reduce(0, +) == 200 * 16)
            #expect(attempts.value > 4)
        }
    }

    @Test("Of two that block each other, the one that the server gives up is tried again")
    func deadlock() async throws {
        try await withAccounts { client async throws in
            let attempts = Counter()
            let meeting = Meeting(of: 2)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (first, second) in [(1, 2), (2, 1)] {
                    group.addTask {
                        try await client.withTransaction { connection in
                            attempts.count()
                            try await connection.query("SELECT set_config('deadlock_timeout', '10ms', true)")
                            try await connection.execute(
                                "UPDATE accounts SET balance = balance + 1 WHERE id = \(first)"
                            )
                            await meeting.arrive()
                            try await connection.execute(
                                "UPDATE accounts SET balance = balance + 1 WHERE id = \(second)"
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await balances(client) == [102, 102])
            #expect(attempts.value >= 3)
        }
    }

    @Test("A transaction that always fails is tried five times, and its error is thrown")
    func attemptsEnd() async throws {
        try await withAccounts { client async throws in
            let attempts = Counter()
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    attempts.count()
                    try await connection.execute("UPDATE accounts SET balance = 0")
                    try await connection.query("DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END$$")
                }
            }
            #expect(error?.sqlState == .serializationFailure)
            #expect(attempts.value == 5)
            #expect(try await balances(client) == [100, 100])
        }
    }

    @Test("Pauses double, and a random part of up to half is left out")
    func pauses() {
        #expect(
            (1...4).map { PostgresClient.pause(.milliseconds(10), after: $0, jitter: 0) }
                == [10, 20, 40, 80].map { .milliseconds($0) }
        )
        #expect(PostgresClient.pause(.milliseconds(10), after: 2, jitter: 1) == .milliseconds(10))
    }
}
