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

    /// The session; nil if it has expired.
    func ifAlive(at date: Date) -> Session? {
        session.isExpired(at: date) ? nil : session
    }
}
