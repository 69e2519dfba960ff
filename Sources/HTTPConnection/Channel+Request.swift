package import NIOCore
import Synchronization

/// Whether a connection has answered its last request itself, since the handler took too long.
package final class HandlerTimeOut: Sendable {
    private let flag = Atomic(false)

    package var hasPassed: Bool { flag.load(ordering: .relaxed) }

    func pass() {
        flag.store(true, ordering: .relaxed)
    }
}

/// Calls from a request's handler to its connection, on the connection's event loop.
extension Channel {
    /// Knows, also after the connection's end, whether a handler took too long.
    ///
    /// It is nil on other threads than that of the event loop.
    package var handlerTimeOut: HandlerTimeOut? { connectionHandler?.handlerTimeOut }

    /// Treats the request that is being answered as one that changes something, whatever its method says.
    ///
    /// The connection cancels a request with a safe method when its client leaves (RFC 9110, section 9.2.1), and no other.
    package func markRequestUnsafe() {
        assert(eventLoop.inEventLoop)
        connectionHandler?.markRequestUnsafe()
    }

    private var connectionHandler: ConnectionHandler? {
        guard eventLoop.inEventLoop else { return nil }
        return try? pipeline.syncOperations.handler(type: ConnectionHandler.self)
    }
}
