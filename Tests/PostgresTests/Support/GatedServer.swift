import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServerProcesses

@testable import Postgres

/// A proxy of the tests' server that passes on as many of the clients' bytes as set.
struct GatedServer: Sendable {
    private final class State: Sendable {
        struct Counts {
            /// How many more chunks of what clients say may pass.
            var passes: Int
            var held = 0
            var passed = 0
            var connections = 0
            /// The connections up to this one are silent.
            var frozen = 0
            var ended = 0
        }

        let counts: NIOLockedValueBox<Counts>

        init(passes: Int) {
            counts = NIOLockedValueBox(Counts(passes: passes))
        }

        func pass(_ connection: Int) async throws {
            counts.withLockedValue { $0.held += 1 }
            try await poll("the gate is open") {
                counts.withLockedValue { counts in
                    guard counts.passes > 0, connection > counts.frozen else { return false }
                    counts.passes -= 1
                    counts.held -= 1
                    counts.passed += 1
                    return true
                }
            }
        }
    }

    /// The database, by way of the gate.
    let url: String
    private let state: State

    /// How many chunks of what clients said are held.
    var heldCount: Int { state.counts.withLockedValue { $0.held } }
    /// How many chunks have passed since the last ``forgetPassed()``.
    var passedCount: Int { state.counts.withLockedValue { $0.passed } }
    /// How many connections clients have opened, and closed.
    var connectionCounts: (opened: Int, closed: Int) { state.counts.withLockedValue { ($0.connections, $0.ended) } }

    /// Lets everything through from now on.
    func open() {
        state.counts.withLockedValue { $0.passes = .max }
    }

    /// Counts what passes from none on.
    func forgetPassed() {
        state.counts.withLockedValue { $0.passed = 0 }
    }

    /// Lets nothing more through.
    func close() {
        state.counts.withLockedValue { $0.passes = 0 }
    }

    /// Lets nothing more through that is said on the connections of now.
    func freeze() {
        state.counts.withLockedValue { $0.frozen = $0.connections }
    }

    /// Runs a body with a gate.
    ///
    /// - Parameters:
    ///   - url: A database of the tests' cluster.
    ///   - passes: How many chunks of what clients say pass at first; 1 is what a session begins with.
    ///   - body: Uses the gate.
    /// - Throws: What the body throws, or what keeps the port from being opened.
    static func run(
        before url: String,
        passes: Int,
        _ body: (GatedServer) async throws -> Void
    ) async throws {
        let options = try PostgresConfiguration(url: url).options
        let path = "\(options["host"] ?? "")/.s.PGSQL.\(options["port"] ?? "5432")"
        let state = State(passes: passes)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0) { $0.eventLoop.makeSucceededFuture($0) }
        let port = listener.channel.localAddress?.port ?? 0
        let gate = GatedServer(
            url: "postgresql://selfie@127.0.0.1:\(port)/\(options["dbname"] ?? "")?sslmode=disable&gssencmode=disable",
            state: state
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.executeThenClose { channels in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await channel in channels {
                            group.addTask { try? await serve(channel, path: path, state: state) }
                        }
                    }
                }
            }
            let result: Swift.Result<Void, any Error>
            do {
                result = .success(try await body(gate))
            } catch {
                result = .failure(error)
            }
            group.cancelAll()
            while let ended = await group.nextResult() { _ = ended }
            try result.get()
        }
    }

    private static func serve(_ channel: any Channel, path: String, state: State) async throws {
        let client = try await channel.eventLoop.submit {
            let client = try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            channel.setOption(.autoRead, value: true).whenComplete { _ in }
            return client
        }.get()
        let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let connection = state.counts.withLockedValue { counts in
            counts.connections += 1
            return counts.connections
        }
        try await client.executeThenClose { fromClient, toClient in
            try await server.executeThenClose { fromServer, toServer in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        do {
                            for try await chunk in fromClient {
                                try await state.pass(connection)
                                try await toServer.write(chunk)
                            }
                        } catch {}
                        state.counts.withLockedValue { $0.ended += 1 }
                    }
                    group.addTask {
                        do {
                            for try await chunk in fromServer { try await toClient.write(chunk) }
                        } catch {}
                    }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
    }
}
