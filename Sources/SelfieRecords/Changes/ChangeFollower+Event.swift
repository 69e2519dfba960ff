extension ChangeFollower {
    /// What is sent to a client.
    package indirect enum Event: Sendable {
        case changes(ChangeBatch)
        /// The client has received all that was there when it came.
        case synced(ChangeCursor)
        /// The client's position has moved, since others wrote what it may not see or did not ask for.
        case cursor(ChangeCursor)
        /// Nothing has happened for a while.
        case nothing
        /// The client must begin again. Nothing follows.
        case reset(ChangeReset)
        case end(End)

        /// Whether nothing follows.
        package var isLast: Bool {
            switch self {
            case .reset, .end: true
            case .changes, .synced, .cursor, .nothing: false
            }
        }
    }

    /// Why it ends.
    ///
    /// The client may connect again at its position, unless its session is over.
    package enum End: String, Sendable, CaseIterable {
        /// The session was ended, or the account disabled or deleted.
        case session
        /// The session has expired.
        case expired
        /// The process ends.
        case restart
        /// It has lasted long enough.
        case renew
    }
}
