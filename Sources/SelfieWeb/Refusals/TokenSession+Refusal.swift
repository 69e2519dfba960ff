import FoundationEssentials
import SelfieAccounts

extension TokenSession {
    /// The session, or the endpoint's own refusal of an expired token.
    func alive(at date: Date, otherwise refusal: ServiceError) throws(ServiceError) -> Session {
        guard let session = ifAlive(at: date) else { throw refusal }
        return session
    }
}
