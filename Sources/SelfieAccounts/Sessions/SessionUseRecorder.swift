import Algorithms
import Logging
import Outages
import Synchronization

/// Remembers which sessions were used, and writes that to the database every few seconds.
///
/// So no request waits for the write.
package final class SessionUseRecorder: Sendable {
    private let sessions: SessionStore
    private let report: OutageReport
    private let used = Mutex<Set<Int>>([])

    /// Further sessions are forgotten until the next write.
    private static let maxCount = 100_000
    /// The sessions that one statement notes: other calls would wait for thousands.
    private static let writtenAtOnce = 500

    /// - Parameters:
    ///   - sessions: The table to write to.
    ///   - logger: Logs when that fails.
    init(sessions: SessionStore, logger: Logger) {
        self.sessions = sessions
        report = OutageReport(
            failing: "the last use of sessions can't be noted",
            over: "the last use of sessions is noted again",
            logger: logger
        )
    }

    /// Remembers that a session was used just now.
    package func note(_ sessionID: Int) {
        used.withLock { used in
            if used.count < Self.maxCount { used.insert(sessionID) }
        }
    }

    /// Writes which sessions were used since the last time.
    ///
    /// - Parameter pause: How long to wait between the sessions of one statement and those of the next.
    package func writeDown(pausing pause: Duration = .zero) async {
        let ids = used.withLock { used in
            defer { used = [] }
            return used
        }.sorted()
        guard !ids.isEmpty else { return }
        do {
            for part in ids.chunks(ofCount: Self.writtenAtOnce) {
                // In a task of its own: the last ones are written even while the service, and this task, is stopped.
                try await Task { try await sessions.noteUse(of: Array(part)) }.value
                if part.endIndex < ids.endIndex { try? await Task.sleep(for: pause) }
            }
            report.succeeded()
        } catch {
            report.failed("\(error)")
        }
    }
}
