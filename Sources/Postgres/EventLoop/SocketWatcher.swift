import CLinux
import Concurrency
import Glibc
import NIOConcurrencyHelpers

/// Watches libpq's sockets.
///
/// libpq reads and writes them itself, and exposes only their descriptors.
///
/// NIO's event loops watch only sockets of their own. So one thread of the process waits in `epoll_wait(2)` and passes
/// on what it learns.
final class SocketWatcher: Sendable {
    static let shared = SocketWatcher()

    /// What is watched for, as `epoll_ctl(2)` has it.
    struct Events: OptionSet {
        let rawValue: UInt32

        static let readable = Events(rawValue: EPOLLIN.rawValue)
        static let writable = Events(rawValue: EPOLLOUT.rawValue)
    }

    private struct State {
        /// Made when the first socket comes; negative while the system gives none.
        var epoll: CInt = -1
        var handlers: [UInt64: @Sendable () -> Void] = [:]
        var lastID: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())

    private static let maxBatch: CInt = 64

    /// Takes a socket in, without watching it yet.
    ///
    /// - Parameters:
    ///   - socket: Its descriptor; nil for one that is closed already, which will never be ready.
    ///   - onReady: Called on the watcher's thread, where nothing may take long.
    /// - Returns: The socket's id here.
    func add(_ socket: CInt?, onReady: @escaping @Sendable () -> Void) -> UInt64 {
        let id = state.withLockedValue { state in
            state.lastID += 1
            state.handlers[state.lastID] = onReady
            return state.lastID
        }
        // epoll reports the end of a connection even without being asked; this way it does so once. If this call
        // fails, so does ``watch(_:id:for:)``.
        if let socket { _ = control(EPOLL_CTL_ADD, socket, id: id, events: EPOLLONESHOT.rawValue) }
        return id
    }

    /// Watches a socket until it is ready for any of these, and calls its handler once.
    ///
    /// - Returns: Whether the system watches it. If not, the handler is never called.
    func watch(_ socket: CInt, id: UInt64, for events: Events) -> Bool {
        control(EPOLL_CTL_MOD, socket, id: id, events: events.rawValue | EPOLLONESHOT.rawValue)
    }

    /// Forgets a socket.
    ///
    /// - Parameters:
    ///   - socket: Its descriptor; nil for one that was closed, whose number may belong to another socket by now.
    ///   - id: Its id.
    func remove(_ socket: CInt?, id: UInt64) {
        if let socket { _ = control(EPOLL_CTL_DEL, socket, id: id, events: 0) }
        state.withLockedValue { _ = $0.handlers.removeValue(forKey: id) }
    }

    private func control(_ operation: CInt, _ socket: CInt, id: UInt64, events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.u64 = id
        return epoll_ctl(epoll(), operation, socket, &event) == 0
    }

    private func epoll() -> CInt {
        state.withLockedValue { state in
            if state.epoll >= 0 { return state.epoll }
            state.epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
            guard state.epoll >= 0 else { return -1 }
            let hasBegun = DetachedThread.run("pg sockets") { [self, epoll = state.epoll] in
                while true { wait(epoll) }
            }
            if !hasBegun {
                close(state.epoll)
                state.epoll = -1
            }
            return state.epoll
        }
    }

    private func wait(_ epoll: CInt) {
        let ready = withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Int(Self.maxBatch)) { buffer in
            // A signal only ends the wait early.
            let count = epoll_wait(epoll, buffer.baseAddress, Self.maxBatch, -1)
            return buffer.prefix(Int(max(0, count))).map(\.data.u64)
        }
        let handlers = state.withLockedValue { state in ready.compactMap { state.handlers[$0] } }
        for handler in handlers { handler() }
    }
}
