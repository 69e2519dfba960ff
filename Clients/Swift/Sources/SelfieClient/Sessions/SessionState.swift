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
        /// Another user has signed in.
        case replaced
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
    private struct State {
        var session: Session?
        var isLoaded = false
        /// The session that calls are about to end, how many they are, and what has ended it meanwhile.
        var held: (session: Session, calls: Int, end: SessionEvent.Reason?)?
        /// How many events there were.
        var eventCount = 0
    }

    private let store: any TokenStore
    private let folders: UserFolders
    private let state = Locked(State())
    private let listeners = SessionListeners()

    init(store: any TokenStore, folders: UserFolders) { (self.store, self.folders) = (store, folders) }

    /// The present session; nil if nobody is signed in.
    ///
    /// - Throws: ``SelfieError/storage(_:)`` if the store can't be read now.
    func current() throws -> Session? {
        try state.withLock { state in
            if !state.isLoaded {
                state.session = try stored()
                state.isLoaded = true
            }
            return state.session
        }
    }

    /// The present session.
    ///
    /// - Throws: ``SelfieError/notSignedIn`` if nobody is signed in, or an error of the store's.
    func currentIfSignedIn() throws -> Session {
        guard let session = try current() else { throw SelfieError.notSignedIn }
        return session
    }

    private func stored() throws -> Session? {
        try store.read().flatMap { try? JSONCoding.decode(Session.self, from: $0) }
    }

    /// Begins a session.
    ///
    /// - Throws: An error of the store's; nobody is signed in then.
    func begin(_ session: Session) throws {
        let former = try? current()
        try state.withLock { state in
            (state.session, state.isLoaded) = (nil, true)
            try? store.remove()
            if let former, former.userID != session.userID { tell(.ended(userID: former.userID, .replaced), &state) }
            try store.write(JSONCoding.encode(session))
            state.session = session
            tell(.began(userID: session.userID), &state)
        }
    }

    /// Replaces a session by another one of its user.
    ///
    /// - Parameters:
    ///   - session: The present session.
    ///   - call: Gets the next one.
    /// - Throws: What the call throws; the session stays then, unless the service has ended it.
    func replace(_ session: Session, by call: () async throws -> Session) async throws {
        try await holdEnd(of: session) { try begin(try await call()) }
    }

    /// Makes a call that makes the service end the session.
    ///
    /// The service ends it before the answer is here. Other calls that find so do not sign the user out until this one has
    /// returned.
    ///
    /// - Throws: What the call throws.
    func holdEnd(of session: Session, during call: () async throws -> Void) async throws {
        state.withLock { state in
            if state.held?.session != session { state.held = (session, 0, nil) }
            state.held?.calls += 1
        }
        defer { release(session) }
        try await call()
    }

    private func release(_ session: Session) {
        let end: SessionEvent.Reason? = state.withLock { state in
            guard state.held?.session == session else { return nil }
            state.held?.calls -= 1
            guard state.held?.calls == 0 else { return nil }
            defer { state.held = nil }
            return state.held?.end
        }
        if let end { self.end(session, end) }
    }

    /// Ends a session, if it is still the present one.
    ///
    /// - Returns: Whether this was its end.
    @discardableResult
    func end(_ session: Session, _ reason: SessionEvent.Reason) -> Bool {
        state.withLock { state in
            guard state.session == session else { return false }
            if reason != .signedOut, state.held?.session == session {
                state.held?.end = reason
                return false
            }
            if reason != .signedOut, let stored = try? stored(), stored != session {
                // An extension, or the app, has begun a new one in the same store.
                state.session = stored
                guard stored.userID != session.userID else { return false }
                tell(.ended(userID: session.userID, .replaced), &state)
                tell(.began(userID: stored.userID), &state)
                return true
            }
            state.session = nil
            // It is known from now on, also if the app ends before the outbox is removed.
            if reason == .revoked { try? folders.confirmDeletion(session.userID) }
            // If the store can't be changed now, the next start finds a token that the service refuses.
            try? store.remove()
            tell(.ended(userID: session.userID, reason), &state)
            return true
        }
    }

    private func tell(_ event: SessionEvent, _ state: inout State) {
        state.eventCount += 1
        // Under the lock, so that events come in the order in which they happen.
        listeners.tell(event)
    }

    /// The events from now on, before the client has done what follows from them.
    var events: AsyncStream<SessionEvent> { listeners.events(limit: .unbounded) }

    /// How many events there were.
    var eventCount: Int { state.withLock(\.eventCount) }
}
