import DatabaseTestSupport
import Postgres
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@testable import SelfieAccounts

/// Whatever is counted and given back in whatever order, counts are what a simple model says.
@Suite("Windows of limits, at random", .timeLimit(.minutes(2)))
struct RateLimitModelTests {
    /// What is known of a window.
    private struct Window: Equatable {
        var count = 0
        /// Which window of its key it is.
        var number = 0
        var hasEnded = true
    }

    private enum Outcome {
        case counted
        case refused(isFirst: Bool)
    }

    /// The windows, and what may be given back.
    private struct Model {
        var windows: [String: Window] = [:]
        var increments: [(increment: RateLimitStore.Increment, number: Int)] = []

        mutating func count(_ key: String, limit: Int) -> Outcome {
            var window = windows[key] ?? Window()
            defer { windows[key] = window }
            if window.hasEnded {
                window = Window(count: 1, number: window.number + 1, hasEnded: false)
                return .counted
            }
            let isFirst = window.count == limit
            // The first refusal is counted, and no other.
            window.count = min(window.count + 1, limit + 1)
            return window.count <= limit ? .counted : .refused(isFirst: isFirst)
        }

        mutating func giveBack(_ increment: RateLimitStore.Increment, number: Int) {
            let key = increment.key
            guard var window = windows[key], window.number == number, !window.hasEnded, window.count > 0 else { return }
            window.count = min(window.count, increment.limit) - 1
            windows[key] = window
        }
    }

    private static let limits = [
        "a": RateLimit(1, per: 3_600), "b": RateLimit(3, per: 7_200), "c": RateLimit(8, per: 10_800),
    ]

    /// Runs a body with two stores on one database, each with connections of its own.
    private static func run(
        _ body: ([RateLimitStore], PostgresClient) async throws -> Void
    ) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TestCluster.withClient(databaseURL) { first in
                let configuration = try PostgresConfiguration.patient(url: databaseURL, maxConnections: 8)
                try await PostgresClient.withClient(configuration: configuration) { second in
                    try await body([RateLimitStore(postgres: first), RateLimitStore(postgres: second)], first)
                }
            }
        }
    }

    @Test("Two processes count as one, and give back no more than they took", arguments: 1...4)
    func walk(seed: Int) async throws {
        try await Self.run { stores, postgres in
            var generator = SplitMix64(seed: UInt64(seed))
            var model = Model()
            for step in 0..<300 {
                let store = stores[Int.random(in: 0...1, using: &generator)]
                let (key, limit) = try #require(
                    Self.limits.sorted { $0.key < $1.key }.randomElement(using: &generator)
                )
                switch Int.random(in: 0..<20, using: &generator) {
                case 0...10:
                    let outcome = try await store.count(key, amount: 1, limit: limit)
                    switch (outcome, model.count(key, limit: limit.count)) {
                    case (.counted(let increment), .counted):
                        model.increments.append((increment, try #require(model.windows[key]?.number)))
                    case (.refused(let refusal), .refused(let isFirst)):
                        #expect(refusal.isFirst == isFirst && refusal.isFull, "step \(step)")
                        #expect((1...limit.seconds).contains(refusal.secondsLeft))
                    case (_, let expected): Issue.record("step \(step): \(outcome) in place of \(expected)")
                    }
                case 11...16: try await Self.giveBack(to: store, &model, &generator)
                case 17...18:
                    try await postgres.write(
                        """
                        UPDATE rate_limits SET window_ends_at = now() AT TIME ZONE 'UTC' - interval '1 second'
                        WHERE key = \(key)
                        """
                    )
                    model.windows[key]?.hasEnded = true
                default:
                    try await store.removeEnded()
                    for (key, window) in model.windows where window.hasEnded { model.windows[key]?.count = -1 }
                }
                try await Self.compare(model, postgres, "step \(step)")
            }
            #expect(model.windows.values.allSatisfy { $0.number > 3 })
        }
    }

    /// Gives back one increment, or one of each of several keys.
    private static func giveBack(
        to store: RateLimitStore,
        _ model: inout Model,
        _ generator: inout SplitMix64
    ) async throws {
        var given: [RateLimitStore.Increment] = []
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let free = model.increments.indices.filter { index in
                !given.contains { $0.key == model.increments[index].increment.key }
            }
            guard let index = free.randomElement(using: &generator) else { break }
            let (increment, number) = model.increments.remove(at: index)
            model.giveBack(increment, number: number)
            given.append(increment)
        }
        try await store.giveBack(given)
    }

    private static func compare(_ model: Model, _ postgres: PostgresClient, _ comment: Comment) async throws {
        let rows = try await postgres.read("SELECT key, count FROM rate_limits")
        var counts: [String: Int] = [:]
        for row in rows { counts[try row.decode("key")] = try row.decode("count") }
        // What was removed has no row.
        #expect(counts == model.windows.filter { $0.value.count >= 0 }.mapValues(\.count), comment)
    }

    /// How many are inside, and how many were at most.
    private final class Room: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func enter() {
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
        }

        func leave() { counts.withLock { $0.now -= 1 } }
    }

    @Test(
        "Of many at once no more pass than the limit allows, and all that was counted is given back",
        arguments: [1, 5]
    )
    func parallel(limit: Int) async throws {
        try await Self.run { stores, postgres in
            let room = Room()
            let passed = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for number in 0..<40 {
                    tasks.addTask {
                        let (store, hourly) = (stores[number % 2], RateLimit(limit, per: 3_600))
                        guard case .counted(let increment) = try await store.count("key", amount: 1, limit: hourly)
                        else { return false }
                        room.enter()
                        // It is given back once the limit is reached.
                        try await poll("the room is full") { room.most >= limit }
                        room.leave()
                        try await store.giveBack([increment])
                        return true
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }.count(where: \.self)
            }
            #expect(passed >= limit)
            #expect(room.most == limit)
            let rows = try await postgres.read("SELECT count FROM rate_limits")
            #expect(try #require(rows.first).decode("count") == 0)
        }
    }
}
