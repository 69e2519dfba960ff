import FoundationEssentials
import SelfieAccounts

/// The session of a request's token, which may have expired.
///
/// So no handler gets the session without a look at the time.
struct TokenSession {
    private let session: Session

    init(_ session: Session) {
        self.session = session
    }

    /// The holder of permits for uploads.
    ///
    /// Expired sessions of a user are another holder. So an old token takes no permit from its owner.
    func uploader(at date: Date) -> Int {
        session.isExpired(at: date) ? -session.userID : session.userID
    }

    /// The session; nil if it has expired.
    func ifAlive(at date: Date) -> Session? {
        session.isExpired(at: date) ? nil : session
    }
}
