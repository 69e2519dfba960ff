import Deliveries
import Logging
import Outages
import Postgres
import SelfieAccounts
import SelfieNotifications
import SelfieRecords

/// Removes old rows, and finishes deletions of accounts.
package struct Housekeeper: Sendable {
    private let postgres: PostgresClient
    private let accounts: AccountCleaning
    private let records: RecordCleaning
    private let removeAccount: RemoveAccount
    private let webhooks: WebhookStore?
    private let logger: Logger
    private let cleaning: OutageReport
    private let expiries: OutageReport
    private let deletions: OutageReport

    init(
        postgres: PostgresClient,
        sessionLifetimeHours: Int,
        auditRetentionDays: Int,
        notifier: ChangeNotifier? = nil,
        removeAccount: RemoveAccount? = nil,
        webhooks: WebhookStore? = nil,
        logger: Logger
    ) {
        self.postgres = postgres
        (self.webhooks, self.logger) = (webhooks, logger)
        self.removeAccount = removeAccount ?? RemoveAccount(postgres: postgres, notifier: notifier)
        accounts = AccountCleaning(
            postgres: postgres,
            sessionLifetimeHours: sessionLifetimeHours,
            auditRetentionDays: auditRetentionDays
        )
        records = RecordCleaning(postgres: postgres, notifier: notifier)
        cleaning = OutageReport(of: "tidying up", logger: logger)
        expiries = OutageReport(of: "removing expired records", logger: logger)
        deletions = OutageReport(of: "the deletion of accounts", logger: logger)
    }

    /// Removes records that have expired, and logs what failed.
    package func removeExpiredRecords() async {
        await expiries.watch { try await records.removeExpired() }
    }

    /// Finishes the deletions of accounts that are closed.
    ///
    /// Run it every few seconds: until then, the e-mail of such an account can't sign up again.
    package func finishDeletions() async {
        await deletions.watch { try await removeAccount.finishAll() }
    }

    private func tidyWebhooks() async throws {
        for id in try await webhooks?.tidy() ?? [] {
            let metadata: Logger.Metadata = ["webhook": "\(id)", "reason": "too many events wait for it"]
            logger.warning("a webhook was disabled", metadata: metadata)
        }
    }

    /// Removes all old rows except expired records, and logs failures.
    ///
    /// A failed step does not stop the others.
    package func tidy() async {
        let steps: [(name: String, run: @Sendable () async throws -> Void)] = [
            ("ended grants", { try await records.forgetEnded() }),
            ("deleted records", { try await records.forgetDeleted() }),
            ("accounts without a proof", { try await removeAccount.removeEndedProvisional() }),
            ("deliveries", { try await DeliveryStore(postgres: postgres).tidy() }),
            ("webhooks", { try await tidyWebhooks() }),
            ("filters of subscriptions", { try await FilterTable.removeUnused(postgres) }),
        ]
        await cleaning.watch {
            var failures: [String] = []
            for (name, run) in steps + accounts.steps {
                do { try await run() } catch { failures.append("\(name): \(error)") }
            }
            if !failures.isEmpty { throw FailedSteps(description: failures.joined(separator: "; ")) }
        }
    }
}

private struct FailedSteps: Error, CustomStringConvertible {
    let description: String
}
