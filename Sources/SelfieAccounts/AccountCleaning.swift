package import Postgres

/// Removes old rows of accounts: sessions, ended windows of limits, codes, unused addresses, events and counts.
package struct AccountCleaning: Sendable {
    /// What is removed, with its name for the log.
    package let steps: [(name: String, run: @Sendable () async throws -> Void)]

    /// - Parameters:
    ///   - postgres: The database.
    ///   - sessionLifetimeHours: How long a session lives at most without use.
    ///   - auditRetentionDays: How many days events are kept.
    package init(postgres: PostgresClient, sessionLifetimeHours: Int, auditRetentionDays: Int) {
        let (audit, addresses) = (AuditStore(postgres: postgres), KnownAddressStore(postgres: postgres))
        steps = [
            ("sessions", { try await SessionStore(postgres: postgres).removeExpired() }),
            ("limits", { try await RateLimitStore(postgres: postgres).removeEnded() }),
            ("addresses", { try await addresses.removeUnused(sessionLifetimeHours: sessionLifetimeHours) }),
            ("sources of events", { try await audit.removeOldSources() }),
            ("codes", { try await CodeStore.removeEnded(postgres) }),
            ("former addresses", { try await EmailStore(postgres: postgres).removeEnded() }),
            ("undecryptable passwords", { try await UndecryptablePasswordStore(postgres: postgres).removeOld() }),
            ("events", { try await audit.removeOld(days: auditRetentionDays) }),
        ]
    }
}
