import NIOConcurrencyHelpers

/// The listeners of a client, which end with it.
final class ListenerRegistry: Sendable {
    private struct State {
        var listeners: [UInt64: NotificationListener] = [:]
        var lastID: UInt64 = 0
        var isClosed = false
    }

    private let state = NIOLockedValueBox(State())

    /// Takes a listener in.
    ///
    /// - Returns: Its id; nil when the client is closed.
    func add(_ listener: NotificationListener) -> UInt64? {
        state.withLockedValue { state in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            state.listeners[state.lastID] = listener
            return state.lastID
        }
    }

    /// Those that listen now.
    var all: [NotificationListener] { state.withLockedValue { Array($0.listeners.values) } }

    func remove(_ id: UInt64) -> NotificationListener? {
        state.withLockedValue { $0.listeners.removeValue(forKey: id) }
    }

    /// Ends all listeners, and new ones.
    func close() {
        let listeners = state.withLockedValue { state in
            state.isClosed = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.stop() }
    }
}
