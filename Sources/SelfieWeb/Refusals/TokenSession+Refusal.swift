import SelfieAccounts

extension TokenSession {
    /// The session, or the endpoint's own refusal of an expired token.
    func alive(otherwise refusal: ServiceError) throws(ServiceError) -> Session {
        guard let session = ifAlive else { throw refusal }
        return session
    }
}
