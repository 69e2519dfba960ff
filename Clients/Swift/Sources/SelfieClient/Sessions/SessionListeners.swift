import Foundation

/// Who is told of begins and ends of sessions.
final class SessionListeners: Sendable {
    private let listeners = Locked<[UUID: AsyncStream<SessionEvent>.Continuation]>([:])

    deinit {
        for listener in listeners.withLock(\.values) { listener.finish() }
    }

    func tell(_ event: SessionEvent) {
        for listener in listeners.withLock(\.values) { listener.yield(event) }
    }

    /// The events from now on, until there is nobody to tell them.
    ///
    /// - Parameter limit: How many a slow reader gets at most, the newest.
    /// - Returns: The events.
    func events(limit: AsyncStream<SessionEvent>.Continuation.BufferingPolicy) -> AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionEvent.self, bufferingPolicy: limit)
        let id = UUID()
        listeners.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0[id] = nil }
        }
        return stream
    }
}
