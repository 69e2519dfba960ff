import NIOCore
import NIOPosix
import Synchronization

/// A port that passes connections on to another one, and plays a network: it can be off, and cut connections.
package final class ConnectionRelay: Sendable {
    private struct State {
        var target: Int
        var isOn = true
        var refusedCount = 0
        var loss: Loss?
        var clients: [ObjectIdentifier: any Channel] = [:]
    }

    /// What a connection that is cut takes along.
    package enum Loss: Sendable, CaseIterable {
        /// The service does not see it.
        case request
        /// The service has done what was asked for.
        case answer
    }

    /// The port to connect to; it stays the same.
    package let port: Int
    private let host: String
    private let listener: any Channel
    private let state: Mutex<State>

    /// Opens a port.
    ///
    /// - Parameters:
    ///   - host: The host to which connections are passed on.
    ///   - target: The port there.
    /// - Returns: The relay.
    /// - Throws: An error of NIO's.
    package static func start(host: String = "127.0.0.1", target: Int) async throws -> ConnectionRelay {
        let box = Box()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                guard let relay = box.relay.withLock({ $0 }) else { return client.close() }
                return relay.accept(client)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let made = ConnectionRelay(listener, host: host, target: target)
        box.relay.withLock { $0 = made }
        return made
    }

    private final class Box: Sendable {
        let relay = Mutex<ConnectionRelay?>(nil)
    }

    private init(_ listener: any Channel, host: String, target: Int) {
        (self.listener, self.host, port) = (listener, host, listener.localAddress?.port ?? 0)
        state = Mutex(State(target: target))
    }

    /// Passes new connections on to another port.
    package func pass(to target: Int) { state.withLock { $0.target = target } }

    /// Cuts all connections.
    package func cut() {
        let clients = state.withLock { Array($0.clients.values) }
        for client in clients { client.close(promise: nil) }
    }

    /// Cuts the connection on which the next request or answer comes, instead of passing that on.
    package func lose(_ next: Loss) { state.withLock { $0.loss = next } }

    /// Whether what was to be lost has not come yet.
    package var isLossAwaited: Bool { state.withLock { $0.loss != nil } }

    private func isLost(_ kind: Loss) -> Bool {
        state.withLock { state in
            guard state.loss == kind else { return false }
            state.loss = nil
            return true
        }
    }

    /// Cuts all connections, and ends new ones at once.
    package func turnOff() {
        state.withLock { ($0.isOn, $0.refusedCount) = (false, 0) }
        cut()
    }

    package func turnOn() { state.withLock { $0.isOn = true } }

    /// How many connections have ended at once since it was turned off.
    package var refusedCount: Int { state.withLock(\.refusedCount) }

    /// Closes the port.
    package func close() async throws {
        turnOff()
        try await listener.close()
    }

    private func accept(_ client: any Channel) -> EventLoopFuture<Void> {
        let target = state.withLock { state in
            if !state.isOn { state.refusedCount += 1 }
            return state.isOn ? state.target : nil
        }
        guard let target else { return client.close() }
        state.withLock { $0.clients[ObjectIdentifier(client)] = client }
        client.closeFuture.whenComplete { _ in
            _ = self.state.withLock { $0.clients.removeValue(forKey: ObjectIdentifier(client)) }
        }
        return ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .connect(host: host, port: target)
            .flatMap { server in
                do {
                    try client.pipeline.syncOperations.addHandler(self.forward(.request, to: server))
                    try server.pipeline.syncOperations.addHandler(self.forward(.answer, to: client))
                } catch {
                    return client.eventLoop.makeFailedFuture(error)
                }
                return client.setOption(.autoRead, value: true).and(server.setOption(.autoRead, value: true)).map { _ in
                }
            }
            .flatMapError { _ in client.close() }
    }

    private func forward(_ kind: Loss, to other: any Channel) -> Forward {
        Forward(to: other) { self.isLost(kind) }
    }

    /// Writes what a connection receives to another one of the same event loop, and closes that with it.
    private final class Forward: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let other: any Channel
        private let isLost: @Sendable () -> Bool

        init(to other: any Channel, isLost: @escaping @Sendable () -> Bool) {
            (self.other, self.isLost) = (other, isLost)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isLost() else { return context.close(promise: nil) }
            other.writeAndFlush(Self.unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
