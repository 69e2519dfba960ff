import Logging
import Postgres

/// Removes old rows: expired sessions, ended windows of limits, addresses that were not used for long, and old events.
package struct Housekeeper: Sendable {
    let postgres: PostgresClient
    let tokenLifetimeHours: Int
    let auditRetentionDays: Int
    let logger: Logger

    /// Removes all of them, and logs what failed.
    ///
    /// What fails keeps none of the others from its work.
    package func tidy() async {
        let audit = AuditStore(postgres: postgres)
        await warnOfFailure { try await SessionStore(postgres: postgres).removeExpired() }
        await warnOfFailure { try await RateLimitStore(postgres: postgres).removeEnded() }
        await warnOfFailure {
            try await KnownAddressStore(postgres: postgres).removeUnused(tokenLifetimeHours: tokenLifetimeHours)
        }
        await warnOfFailure { try await audit.removeOldSources() }
        await warnOfFailure { try await audit.removeOld(days: auditRetentionDays) }
    }

    private func warnOfFailure(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch {
            // Work that the end of the service interrupted did not fail.
            if Task.isCancelled { return }
            logger.warning("tidying up failed and will be tried again", metadata: ["error": "\(error)"])
        }
    }
}
