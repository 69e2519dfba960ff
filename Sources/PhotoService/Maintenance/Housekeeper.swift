import Logging
import Postgres
import ServiceLifecycle

/// Removes what has had its time: expired sessions, ended windows of limits, addresses that were not used for long.
struct Housekeeper: Service {
    let postgres: PostgresClient
    let tokenLifetimeHours: Int
    let interval: Duration
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await tidy()
                try? await Task.sleep(for: interval)
            }
        }
    }

    /// Removes all of it that there is.
    func tidy() async {
        let (sessions, audit) = (SessionStore(postgres: postgres), AuditStore(postgres: postgres))
        let (limits, addresses) = (RateLimitStore(postgres: postgres), KnownAddressStore(postgres: postgres))
        do {
            // Batch by batch, so that no statement takes long however much there is.
            while try await sessions.removeExpired() {}
            while try await limits.removeEnded() {}
            while try await addresses.removeUnused(tokenLifetimeHours: tokenLifetimeHours) {}
            while try await audit.removeOldSources() {}
        } catch {
            // What was broken off by the end of the service did not fail.
            if Task.isCancelled { return }
            logger.warning("tidying up failed and will be tried again", metadata: ["error": "\(error)"])
        }
    }
}
