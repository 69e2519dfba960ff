import FoundationEssentials
import SelfieCore

/// The session of a request's token, which may have expired.
///
/// So no handler gets the session without a look at the time.
struct TokenSession {
    private let session: Session

    init(_ session: Session) {
        self.session = session
    }

    /// Whose session it is, or was: for what is counted, and not for what is allowed.
    var userID: Int { session.userID }

    /// The session; nil if it has expired.
    func ifAlive(at date: Date) -> Session? {
        session.isExpired(at: date) ? nil : session
    }
}
