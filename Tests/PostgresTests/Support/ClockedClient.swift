import NIOCore
import NIOEmbedded
import ServerProcesses

@testable import Postgres

/// A client whose time stands still unless a test moves it; what it says to the server takes real time.
struct ClockedClient: Sendable {
    let client: PostgresClient
    private let eventLoop: NIOAsyncTestingEventLoop

    /// Runs a body with a client that has the product's own limits, but for those that count in real time.
    static func run<Result: Sendable>(
        url: String,
        maxConnections: Int = 1,
        adjust: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (ClockedClient) async throws -> Result
    ) async throws -> Result {
        let eventLoop = NIOAsyncTestingEventLoop()
        var configuration = try PostgresConfiguration(url: url, maxConnections: maxConnections)
        configuration.eventLoopGroup = eventLoop
        configuration.connectTimeout = .seconds(20)
        configuration.statementTimeout = .seconds(60)
        adjust(&configuration)
        return try await PostgresClient.withClient(configuration: configuration) { client in
            try await body(ClockedClient(client: client, eventLoop: eventLoop))
        }
    }

    /// Moves the time on, and has done what is due by then.
    func advance(by duration: Duration) async {
        await eventLoop.advanceTime(by: TimeAmount(duration))
    }

    /// Waits until so many statements were sent whose answers have not come.
    func waitUntilUnderWay(_ count: Int) async throws {
        try await poll("\(count) statements are under way") { await client.underWayCount == count }
    }

    /// Waits until so many callers wait for a connection.
    func waitUntilWaiting(_ count: Int) async throws {
        try await poll("\(count) callers wait") { await client.waiterCount == count }
    }
}

extension PostgresClient {
    /// How many callers wait for a connection.
    var waiterCount: Int {
        get async {
            var count = 0
            for pool in pools { count += await pool.waiterCount }
            return count
        }
    }

    /// How many connections are open or being opened.
    var connectionCount: Int {
        get async {
            var count = 0
            for pool in pools { count += await pool.connectionCount }
            return count
        }
    }

    /// How many statements of callers were sent, with their batches' ends, whose answers have not come.
    var underWayCount: Int {
        get async {
            var count = 0
            for pool in pools { count += await pool.underWayCount }
            return count
        }
    }

    /// How many connections wait for the answer to their first statement.
    var settingUpCount: Int {
        get async {
            var count = 0
            for pool in pools { count += await pool.settingUpCount }
            return count
        }
    }

    /// How many statements wait for what is under way on their own connections.
    var backlogCount: Int {
        get async {
            var count = 0
            for pool in pools { count += await pool.backlogCount }
            return count
        }
    }
}

extension ConnectionPool {
    fileprivate var underWayCount: Int {
        members.all.map(\.connection.pipeline)
            .filter { !$0.isBatchOpen && $0.head?.statement.purpose != .setUp }
            .reduce(0) { $0 + $1.count }
    }

    fileprivate var settingUpCount: Int {
        members.all.count { $0.connection.pipeline.head?.statement.purpose == .setUp }
    }

    fileprivate var backlogCount: Int { members.all.reduce(0) { $0 + $1.connection.backlog.count } }
}
