import Logging
import Postgres

/// Removes what has had its time: expired sessions, ended windows of limits, addresses that were not used for long.
package struct Housekeeper: Sendable {
    let postgres: PostgresClient
    let tokenLifetimeHours: Int
    let logger: Logger

    /// Removes all of it that there is, and tells the log of what failed.
    package func tidy() async {
        do {
            try await SessionStore(postgres: postgres).removeExpired()
            try await RateLimitStore(postgres: postgres).removeEnded()
            try await KnownAddressStore(postgres: postgres).removeUnused(tokenLifetimeHours: tokenLifetimeHours)
            try await AuditStore(postgres: postgres).removeOldSources()
        } catch {
            // What was broken off by the end of the service did not fail.
            if Task.isCancelled { return }
            logger.warning("tidying up failed and will be tried again", metadata: ["error": "\(error)"])
        }
    }
}
