import FoundationEssentials
import SelfieAccounts
import SelfiePhotos

/// The session of a request's token, which may have expired.
///
/// So no handler gets the session without a look at the time.
struct TokenSession {
    private let session: Session
    private let now: @Sendable () -> Date

    init(_ session: Session, now: @escaping @Sendable () -> Date) {
        self.session = session
        self.now = now
    }

    /// The id of the session, whether or not it has expired.
    var id: Int { session.id }

    /// The holder of permits for uploads.
    var uploader: Uploader { ifAlive == nil ? .expired(userID: session.userID) : .user(session.userID) }

    /// The session; nil if it has expired.
    var ifAlive: Session? { session.isExpired(at: now()) ? nil : session }
}
