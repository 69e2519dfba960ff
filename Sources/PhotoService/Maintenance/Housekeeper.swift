import Logging
import Postgres
import ServiceLifecycle

/// Removes what has had its time: expired sessions, ended windows of limits, addresses that were not used for long.
struct Housekeeper: Service {
    let postgres: PostgresClient
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

    private func tidy() async {
        let (sessions, audit) = (SessionStore(postgres: postgres), AuditStore(postgres: postgres))
        let (limits, addresses) = (RateLimitStore(postgres: postgres), KnownAddressStore(postgres: postgres))
        await remove("expired sessions") { try await sessions.removeExpired() }
        await remove("ended limits") { try await limits.removeEnded() }
        await remove("known addresses") { try await addresses.removeUnused() }
        await remove("addresses of events") { try await audit.removeOldAddresses() }
    }

    /// Removes batch by batch, so that no statement takes long however much there is.
    private func remove(_ what: String, batch: () async throws -> Bool) async {
        do {
            while try await batch() {}
        } catch {
            // What was broken off by the end of the service did not fail.
            if Task.isCancelled { return }
            logger.warning("\(what) could not be removed; it will be tried again", metadata: ["error": "\(error)"])
        }
    }
}
