import FoundationEssentials
import SelfieCore

extension TokenSession {
    /// The session.
    ///
    /// - Parameters:
    ///   - date: The present.
    ///   - refusal: The endpoint's answer to an expired token.
    /// - Returns: The session.
    /// - Throws: The refusal.
    func alive(at date: Date, otherwise refusal: ServiceError) throws(ServiceError) -> Session {
        guard let session = ifAlive(at: date) else { throw refusal }
        return session
    }
}
