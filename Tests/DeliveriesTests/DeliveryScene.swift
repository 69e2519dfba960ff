import DatabaseTestSupport
import Foundation
import Logging
import Postgres
import ServerProcesses
import Synchronization
import TestSupport

@testable import Deliveries

/// A database with deliveries, and workers as processes have them.
struct DeliveryScene: Sendable {
    let postgres: PostgresClient

    var store: DeliveryStore { DeliveryStore(postgres: postgres) }

    static func with(_ body: (DeliveryScene) async throws -> Void) async throws {
        try await TestCluster.withDatabase { url in
            try await PostgresClient.withClient(configuration: .patient(url: url, maxConnections: 8)) { postgres in
                try await body(DeliveryScene(postgres: postgres))
            }
        }
    }

    /// Adds deliveries to a target.
    @discardableResult
    func add(
        _ count: Int = 1,
        to target: String = "mail",
        channel: DeliveryChannelName = .mail,
        lifetime: Duration = .seconds(600)
    ) async throws -> [UUID] {
        let deliveries = (0..<count).map {
            NewDelivery(channel: channel, target: target, cause: #"{"n": \#($0)}"#, lifetime: lifetime)
        }
        try await postgres.write(DeliveryStore.insertion(of: deliveries))
        return deliveries.map(\.id)
    }

    /// Runs a body while a worker sends.
    func withWorker(
        _ channel: TestChannel,
        log: TestLog = TestLog(),
        _ change: (inout DeliveryWorkerOptions) -> Void = { _ in },
        _ body: (DeliveryWorker) async throws -> Void
    ) async throws {
        try await withWorker([channel], log: log, change, body)
    }

    /// Runs a body while a worker sends to several channels.
    func withWorker(
        _ channels: [TestChannel],
        log: TestLog = TestLog(),
        _ change: (inout DeliveryWorkerOptions) -> Void = { _ in },
        _ body: (DeliveryWorker) async throws -> Void
    ) async throws {
        var options = DeliveryWorkerOptions()
        // What a test waits for is woken.
        options.interval = .seconds(3_600)
        change(&options)
        let worker = DeliveryWorker(
            store: store,
            channels: channels,
            options: options,
            logger: log.logger(level: .info)
        )
        let running = Task { await worker.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(worker)) } catch { result = .failure(error) }
        worker.stop()
        await running.value
        try result.get()
    }

    /// What is left, as `target try_count state reason`.
    func rows() async throws -> [String] {
        try await postgres.read(
            """
            SELECT concat_ws(' ', target, try_count, CASE WHEN failed_at IS NOT NULL THEN 'failed'
                WHEN claimed_until IS NOT NULL THEN 'claimed' ELSE 'waiting' END, reason) AS text
            FROM deliveries ORDER BY target, id
            """
        ).map { try $0.decode("text") }
    }

    /// How many statements wait for a lock.
    func lockWaiterCount() async throws -> Int {
        try await count(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database()
            """
        )
    }

    /// How many are due.
    func dueCount() async throws -> Int {
        try await count(
            "SELECT count(*) FROM deliveries WHERE failed_at IS NULL AND due_at <= now() AT TIME ZONE 'UTC'"
        )
    }

    func count(_ query: PostgresQuery) async throws -> Int {
        try await postgres.read(query).first?.decode("count") ?? 0
    }
}

/// A channel that does what a test wants, and notes what it was given.
final class TestChannel: DeliveryChannel {
    let name: DeliveryChannelName
    let servers = ["server", "a", "b"]
    private let answer: @Sendable (Delivery) async -> DeliveryOutcome
    private let state = Mutex((sent: [Delivery](), underWay: [String: Int](), most: [String: Int]()))

    init(_ name: DeliveryChannelName = .mail, _ answer: @escaping @Sendable (Delivery) async -> DeliveryOutcome) {
        (self.name, self.answer) = (name, answer)
    }

    /// All that it was given, in order.
    var given: [Delivery] { state.withLock { $0.sent } }
    /// The most deliveries to a target that were under way at once.
    func most(_ target: String) -> Int { state.withLock { $0.most[target] ?? 0 } }

    func send(_ delivery: Delivery) async -> DeliveryOutcome {
        state.withLock { state in
            state.sent.append(delivery)
            state.underWay[delivery.target, default: 0] += 1
            state.most[delivery.target] = max(
                state.most[delivery.target] ?? 0,
                state.underWay[delivery.target] ?? 0
            )
        }
        defer { state.withLock { $0.underWay[delivery.target, default: 1] -= 1 } }
        return await answer(delivery)
    }
}
