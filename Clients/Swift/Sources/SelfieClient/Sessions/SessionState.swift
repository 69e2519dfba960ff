import Foundation

/// Begins and ends of sessions, as an app sees them.
public enum SessionEvent: Sendable, Hashable {
    /// A user has signed in. The text is the member's id.
    case began(userID: String)
    /// The session has ended: show the sign-in page.
    case ended(userID: String, Reason)

    /// Why a session has ended.
    public enum Reason: Sendable, Hashable {
        /// The app has signed out.
        case signedOut
        /// The service no longer knows the token, for example after a new password, or after the session was ended on
        /// another device.
        case revoked
        /// The session was not remembered, or not used for too long.
        case expired
    }
}

/// A user's session, as it is stored.
struct Session: Sendable, Hashable, Codable {
    let token: Token
    let userID: String
}

/// The present session, and who is told of its begin and end.
///
/// A session ends once: whoever brings its end later is not heard.
final class SessionState: Sendable {
    fileprivate struct State {
        var session: Session?
        var isLoaded = false
        var listeners: [UUID: AsyncStream<SessionEvent>.Continuation] = [:]
    }

    private let store: any TokenStore
    private let state = Locked(State())

    init(store: any TokenStore) { self.store = store }

    deinit {
        state.withLock { state in state.listeners.values.forEach { $0.finish() } }
    }

    /// The present session; nil if nobody is signed in.
    ///
    /// - Throws: ``SelfieError/storage(_:)`` if the store can't be read now.
    func current() throws -> Session? {
        try state.withLock { state in
            if !state.isLoaded {
                state.session = try store.read().flatMap { try? JSONCoding.decode(Session.self, from: $0) }
                state.isLoaded = true
            }
            return state.session
        }
    }

    /// Replaces the session.
    ///
    /// - Throws: An error of the store's; nobody is signed in then.
    func begin(_ session: Session) throws {
        try state.withLock { state in
            (state.session, state.isLoaded) = (nil, true)
            try? store.remove()
            try store.write(JSONCoding.encode(session))
            state.session = session
            state.tell(.began(userID: session.userID))
        }
    }

    /// Ends a session, if it is still the present one.
    ///
    /// - Returns: Whether this was its end.
    @discardableResult
    func end(_ session: Session, _ reason: SessionEvent.Reason) -> Bool {
        state.withLock { state in
            guard state.session == session else { return false }
            state.session = nil
            // If the store can't be changed now, the next start finds a token that the service refuses.
            try? store.remove()
            state.tell(.ended(userID: session.userID, reason))
            return true
        }
    }

    /// The events from now on.
    var events: AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self,
            bufferingPolicy: .bufferingNewest(64)
        )
        let id = UUID()
        state.withLock { $0.listeners[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[id] = nil }
        }
        return stream
    }
}

extension SessionState.State {
    fileprivate func tell(_ event: SessionEvent) {
        for listener in listeners.values { listener.yield(event) }
    }
}
