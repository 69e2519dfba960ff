import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Many clients that read from a server of this machine, and what they have got.
final class StreamClients: Sendable {
    private struct State {
        var channels: [any Channel] = []
        var marker = ""
        var count = 0
        var bytes = 0
        var arrived: CheckedContinuation<Void, Never>?
    }

    private let total: Int
    private let state = Mutex(State())

    /// How many connections are opened at the same time.
    private static let openedAtOnce = 200

    /// Opens connections, runs a body, and closes them.
    ///
    /// - Parameters:
    ///   - count: How many connections.
    ///   - port: The server's port.
    ///   - marker: What each must get before the body runs.
    ///   - request: What a connection sends first.
    ///   - body: Uses them.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps a connection from being opened.
    static func with<Result: Sendable>(
        _ count: Int,
        port: Int,
        until marker: String,
        request: @escaping @Sendable (Int) -> String,
        _ body: (StreamClients) async throws -> Result
    ) async throws -> Result {
        let clients = StreamClients(total: count)
        clients.expect(marker)
        for first in stride(from: 0, to: count, by: openedAtOnce) {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in first..<min(first + openedAtOnce, count) {
                    tasks.addTask { try await clients.open(port: port, request(number)) }
                }
                try await tasks.waitForAll()
            }
        }
        await clients.all()
        do {
            let result = try await body(clients)
            await clients.close()
            return result
        } catch {
            await clients.close()
            throw error
        }
    }

    private init(total: Int) {
        self.total = total
    }

    /// From now on, this is what each connection must get.
    func expect(_ marker: String) {
        state.withLock { ($0.marker, $0.count, $0.bytes) = (marker, 0, 0) }
    }

    /// How many bytes have come since something was expected, of all connections together.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Returns when each connection has got what is expected.
    func all() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.count < total { state.arrived = continuation }
                return state.count >= total
            }
            if isDone { continuation.resume() }
        }
    }

    /// Counts bytes that came.
    ///
    /// - Returns: What is looked for.
    fileprivate func got(bytes: Int) -> String {
        state.withLock { state in
            state.bytes += bytes
            return state.marker
        }
    }

    fileprivate func gotIt() {
        let arrived = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.count += 1
            guard state.count == total else { return nil }
            defer { state.arrived = nil }
            return state.arrived
        }
        arrived?.resume()
    }

    private func open(port: Int, _ request: String) async throws {
        let channel = try await Self.connect(to: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(MarkerHandler(clients: self))
            }
        }
        state.withLock { $0.channels.append(channel) }
        try await channel.writeAndFlush(ByteBuffer(string: request))
    }

    /// A connection to a server of this machine.
    static func connect(
        to port: Int,
        initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void> = {
            $0.eventLoop.makeSucceededVoidFuture()
        }
    ) async throws -> any Channel {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer(initialize)
            .connect(host: "127.0.0.1", port: port).get()
    }

    private func close() async {
        for channel in state.withLock({ $0.channels }) { try? await channel.close() }
    }
}

/// Looks for the marker in what a connection gets.
private final class MarkerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let clients: StreamClients
    /// What was found last.
    private var found = ""
    /// The end of what came before, in which a marker may have begun.
    private var rest = ByteBuffer()

    init(clients: StreamClients) {
        self.clients = clients
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        let marker = clients.got(bytes: bytes.readableBytes)
        rest.writeBuffer(&bytes)
        if found != marker, rest.readableBytesView.firstRange(of: marker.utf8) != nil {
            found = marker
            clients.gotIt()
        }
        let excess = rest.readableBytes - marker.utf8.count
        if excess > 0 { rest.moveReaderIndex(forwardBy: excess) }
        rest.discardReadBytes()
    }
}
