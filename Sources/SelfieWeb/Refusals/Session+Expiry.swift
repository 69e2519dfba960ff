import FoundationEssentials
import SelfieCore

extension Session {
    /// Refuses an expired session with the endpoint's own text.
    func requireAlive(at date: Date, otherwise refusal: ServiceError) throws(ServiceError) {
        if isExpired(at: date) { throw refusal }
    }
}
