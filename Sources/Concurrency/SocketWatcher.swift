import CLinux
import Glibc
import NIOConcurrencyHelpers
import Synchronization

/// Watches the sockets of C libraries, and other descriptors.
///
/// libpq and libcurl read and write their sockets themselves, and expose only the descriptors. NIO's event loops watch
/// only sockets of their own. So one thread of the process waits in `epoll_wait(2)` and calls handlers.
package final class SocketWatcher: Sendable {
    /// The process's only one.
    package static let shared = SocketWatcher()

    /// What is watched for, as `epoll_ctl(2)` has it.
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: EPOLLIN.rawValue)
        package static let writable = Events(rawValue: EPOLLOUT.rawValue)
    }

    private struct State {
        /// Made when the first socket comes; negative while the system gives none.
        var epoll: CInt = -1
        var sockets: [UInt64: WatchedSocket] = [:]
        /// Whose each descriptor is.
        ///
        /// libcurl closes the loser of two addresses, and says so only then. Another library may have its number by that time.
        var owners: [CInt: UInt64] = [:]
        var lastID: UInt64 = 0
    }

    private struct WatchedSocket {
        let descriptor: CInt?
        let onReady: @Sendable (Events) -> Void
    }

    private let state = NIOLockedValueBox(State())
    /// The watcher's thread (pthread_self(3)); 0 until it has begun.
    private let thread = Atomic<pthread_t>(0)

    private static let maxBatch: CInt = 64

    /// Whether the caller runs on the watcher's thread.
    package var isOnThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Takes a socket in, without watching it yet.
    ///
    /// - Parameters:
    ///   - socket: Its descriptor; nil for one that is closed already, which will never be ready.
    ///   - onReady: Called on the watcher's thread, where nothing may block, with what the socket is ready for.
    ///     A socket that failed is ready for both.
    /// - Returns: The socket's id here.
    package func add(_ socket: CInt?, onReady: @escaping @Sendable (Events) -> Void) -> UInt64 {
        let epoll = epoll()
        return state.withLockedValue { state in
            state.lastID += 1
            state.sockets[state.lastID] = WatchedSocket(descriptor: socket, onReady: onReady)
            // epoll reports the end of a connection even without being asked; this way it does so once. If this call
            // fails, so does ``watch(_:id:for:)``.
            if let socket {
                state.owners[socket] = state.lastID
                _ = control(epoll, EPOLL_CTL_ADD, socket, id: state.lastID, events: EPOLLONESHOT.rawValue)
            }
            return state.lastID
        }
    }

    /// Watches a socket until it is ready for any of these, and calls its handler once.
    ///
    /// - Returns: Whether the system watches it. If not, the handler is never called. A descriptor that was added again belongs
    ///   to the newer id alone.
    package func watch(_ socket: CInt, id: UInt64, for events: Events) -> Bool {
        let epoll = epoll()
        return state.withLockedValue { state in
            guard state.owners[socket] == id else { return false }
            return control(epoll, EPOLL_CTL_MOD, socket, id: id, events: events.rawValue | EPOLLONESHOT.rawValue)
        }
    }

    /// Forgets a socket.
    ///
    /// - Parameters:
    ///   - socket: Its descriptor; nil for one that was closed, whose number may belong to another socket by now.
    ///   - id: Its id.
    package func remove(_ socket: CInt?, id: UInt64) {
        let epoll = epoll()
        // Released without the lock: what its handler holds may remove another socket.
        _ = state.withLockedValue { state -> WatchedSocket? in
            let removed = state.sockets.removeValue(forKey: id)
            guard let descriptor = removed?.descriptor, state.owners[descriptor] == id else { return removed }
            state.owners[descriptor] = nil
            if socket == descriptor { _ = control(epoll, EPOLL_CTL_DEL, descriptor, id: id, events: 0) }
            return removed
        }
    }

    private func control(_ epoll: CInt, _ operation: CInt, _ socket: CInt, id: UInt64, events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.u64 = id
        return epoll_ctl(epoll, operation, socket, &event) == 0
    }

    private func epoll() -> CInt {
        state.withLockedValue { state in
            if state.epoll >= 0 { return state.epoll }
            state.epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
            guard state.epoll >= 0 else { return -1 }
            let hasBegun = DetachedThread.run("sockets") { [self, epoll = state.epoll] in
                thread.store(pthread_self(), ordering: .relaxed)
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
            return buffer.prefix(Int(max(0, count))).map { (id: $0.data.u64, events: $0.events) }
        }
        for (id, events) in ready {
            // Asked for one by one: the handler of one socket may remove another.
            guard let handler = state.withLockedValue({ $0.sockets[id]?.onReady }) else { continue }
            let hasFailed = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
            handler(hasFailed ? [.readable, .writable] : Events(rawValue: events))
        }
    }
}
