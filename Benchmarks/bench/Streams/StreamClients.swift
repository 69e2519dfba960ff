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
        var arrived: CheckedContinuation<Void, any Error>?
        /// Why waiting ended; nil while it may continue.
        var failure: (any Error)?
        var isClosing = false
    }

    private let total: Int
    private let state = Mutex(State())

    /// How many connections are opened at the same time.
    private static let openedAtOnce = 200
    /// How long all of them may take to get what is expected.
    private static let patience: Duration = .seconds(60)

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
        do {
            for first in stride(from: 0, to: count, by: openedAtOnce) {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for number in first..<min(first + openedAtOnce, count) {
                        tasks.addTask { try await clients.open(port: port, request(number)) }
                    }
                    try await tasks.waitForAll()
                }
            }
            try await clients.all()
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
    ///
    /// - Throws: `BenchError.missing` when one is closed before, or it takes too long; `CancellationError`.
    func all() async throws {
        let timer = Task {
            try await Task.sleep(for: Self.patience)
            let (rest, marker) = state.withLock { (total - $0.count, $0.marker) }
            fail(BenchError.missing("\(marker) at \(rest) of \(total) clients"))
        }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if let failure = state.failure { return .failure(failure) }
                    if state.count >= total { return .success(()) }
                    state.arrived = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    private func fail(_ error: any Error) {
        let arrived = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.isClosing else { return nil }
            state.failure = state.failure ?? error
            defer { state.arrived = nil }
            return state.arrived
        }
        arrived?.resume(throwing: error)
    }

    /// A connection was closed by the server.
    fileprivate func lostOne() {
        fail(BenchError.missing("a connection that the server has closed"))
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
        let arrived = state.withLock { state -> CheckedContinuation<Void, any Error>? in
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
        let channels = state.withLock { state in
            state.isClosing = true
            return state.channels
        }
        for channel in channels { try? await channel.close() }
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

    func channelInactive(context: ChannelHandlerContext) {
        clients.lostOne()
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
