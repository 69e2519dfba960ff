extension ChangeFollower {
    /// What a client is told.
    package indirect enum Event: Sendable {
        case changes(ChangeBatch)
        /// All that was there when the client came has been told.
        case synced(ChangeCursor)
        /// The client is further, since others wrote what it has no part in.
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
    /// The client may come again where it is, unless its session is over.
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
