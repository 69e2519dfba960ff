import Logging
import Outages
import Postgres
import SelfieAccounts
import SelfieRecords

/// Removes old rows, and finishes deletions of accounts.
///
/// Old rows are expired sessions, ended windows of limits, unused addresses, old events and counts.
package struct Housekeeper: Sendable {
    private let postgres: PostgresClient
    private let sessionLifetimeHours: Int
    private let auditRetentionDays: Int
    private let notifier: ChangeNotifier?
    private let report: OutageReport
    private let expiryReport: OutageReport
    private let deletionReport: OutageReport

    init(
        postgres: PostgresClient,
        sessionLifetimeHours: Int,
        auditRetentionDays: Int,
        notifier: ChangeNotifier? = nil,
        logger: Logger
    ) {
        self.postgres = postgres
        self.notifier = notifier
        self.sessionLifetimeHours = sessionLifetimeHours
        self.auditRetentionDays = auditRetentionDays
        report = OutageReport(
            failing: "tidying up fails and will be tried again",
            over: "tidying up works again",
            logger: logger
        )
        expiryReport = OutageReport(
            failing: "removing expired records fails and will be tried again",
            over: "removing expired records works again",
            logger: logger
        )
        deletionReport = OutageReport(
            failing: "the deletion of accounts fails and will be tried again",
            over: "accounts are deleted again",
            logger: logger
        )
    }

    /// Removes records that have expired, and logs what failed.
    package func removeExpiredRecords() async {
        do {
            try await RecordCleaning(postgres: postgres, notifier: notifier).removeExpired()
            expiryReport.succeeded()
        } catch {
            // Work that the end of the service interrupted did not fail.
            if !Task.isCancelled { expiryReport.failed("\(error)") }
        }
    }

    /// Finishes the deletions of accounts that are closed.
    ///
    /// Run it every few seconds: until then, the e-mail of such an account can't sign up again.
    package func finishDeletions() async {
        do {
            try await RemoveAccount(postgres: postgres, notifier: notifier).finishAll()
            if !Task.isCancelled { deletionReport.succeeded() }
        } catch {
            if !Task.isCancelled { deletionReport.failed("\(error)") }
        }
    }

    /// Removes all old rows except expired records, and logs failures.
    ///
    /// A failure does not stop the other steps.
    package func tidy() async {
        let audit = AuditStore(postgres: postgres)
        let records = RecordCleaning(postgres: postgres, notifier: notifier)
        let steps: [(name: String, run: () async throws -> Void)] = [
            ("ended grants", { try await records.forgetEnded() }),
            ("deleted records", { try await records.forgetDeleted() }),
            ("sessions", { try await SessionStore(postgres: postgres).removeExpired() }),
            ("limits", { try await RateLimitStore(postgres: postgres).removeEnded() }),
            (
                "addresses",
                {
                    try await KnownAddressStore(postgres: postgres).removeUnused(
                        sessionLifetimeHours: sessionLifetimeHours
                    )
                }
            ),
            ("sources of events", { try await audit.removeOldSources() }),
            (
                "undecryptable passwords",
                { try await UndecryptablePasswordStore(postgres: postgres).removeOld() }
            ),
            ("events", { try await audit.removeOld(days: auditRetentionDays) }),
        ]
        var failures: [String] = []
        for step in steps {
            do { try await step.run() } catch { failures.append("\(step.name): \(error)") }
        }
        // Work that the end of the service interrupted did not fail.
        if Task.isCancelled { return }
        if failures.isEmpty { report.succeeded() } else { report.failed(failures.joined(separator: "; ")) }
    }
}
