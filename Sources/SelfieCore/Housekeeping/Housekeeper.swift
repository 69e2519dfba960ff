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
        let steps: [() async throws -> Void] = [
            { try await SessionStore(postgres: postgres).removeExpired() },
            { try await RateLimitStore(postgres: postgres).removeEnded() },
            { try await KnownAddressStore(postgres: postgres).removeUnused(tokenLifetimeHours: tokenLifetimeHours) },
            { try await audit.removeOldSources() },
            { try await audit.removeOld(days: auditRetentionDays) },
        ]
        var failures: [any Error] = []
        for step in steps {
            do { try await step() } catch { failures.append(error) }
        }
        // Work that the end of the service interrupted did not fail.
        guard let first = failures.first, !Task.isCancelled else { return }
        logger.warning(
            "tidying up failed and will be tried again",
            metadata: ["error": "\(first)", "failed": "\(failures.count) of \(steps.count)"]
        )
    }
}
