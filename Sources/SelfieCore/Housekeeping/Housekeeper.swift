import Logging
import Postgres

/// Removes old rows: expired sessions, ended windows of limits, addresses that were not used for long, and old events.
package struct Housekeeper: Sendable {
    let postgres: PostgresClient
    let tokenLifetimeHours: Int
    let auditRetentionDays: Int
    let logger: Logger

    /// Removes all of them, and logs what failed.
    package func tidy() async {
        do {
            try await SessionStore(postgres: postgres).removeExpired()
            try await RateLimitStore(postgres: postgres).removeEnded()
            try await KnownAddressStore(postgres: postgres).removeUnused(tokenLifetimeHours: tokenLifetimeHours)
            let audit = AuditStore(postgres: postgres)
            try await audit.removeOldSources()
            try await audit.removeOld(days: auditRetentionDays)
        } catch {
            // Work that the end of the service interrupted did not fail.
            if Task.isCancelled { return }
            logger.warning("tidying up failed and will be tried again", metadata: ["error": "\(error)"])
        }
    }
}
