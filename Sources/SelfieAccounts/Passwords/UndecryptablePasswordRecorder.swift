package import AESCrypt
import Logging
import Outages
import Synchronization

/// Counts passwords that can't be decrypted, and writes the counts to the database every few seconds.
///
/// So operators see that an app encrypts in another way, and a flood of such passwords costs few writes.
package final class UndecryptablePasswordRecorder: Sendable {
    private let store: UndecryptablePasswordStore
    private let report: OutageReport
    private let counts = Mutex<[AESCryptFailure: Int]>([:])

    /// - Parameters:
    ///   - store: The table to write to.
    ///   - logger: Logs when that fails.
    init(store: UndecryptablePasswordStore, logger: Logger) {
        self.store = store
        report = OutageReport(
            failing: "passwords that can't be decrypted can't be counted",
            over: "passwords that can't be decrypted are counted again",
            logger: logger
        )
    }

    /// Counts a password.
    ///
    /// - Parameter error: Why it can't be decrypted.
    package func note(_ error: AESCryptFailure) {
        counts.withLock { $0[error, default: 0] += 1 }
    }

    /// Writes what was counted since the last time.
    package func writeDown() async {
        let counted = counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        guard !counted.isEmpty else { return }
        do {
            // In a task of its own: the last ones are written even while the service, and this task, is stopped.
            try await Task { try await store.add(counted) }.value
            report.succeeded()
        } catch {
            report.failed("\(error)")
        }
    }
}
