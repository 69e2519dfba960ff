import Logging
import Synchronization

/// Remembers which sessions were used, and writes it down now and then, so that no request waits for it.
package final class SessionUseRecorder: Sendable {
    private let sessions: SessionStore
    private let logger: Logger
    private let used = Mutex<Set<Int>>([])

    /// What comes beyond is forgotten until the next time it is written down.
    private static let maxCount = 100_000

    /// - Parameters:
    ///   - sessions: Where it is written down.
    ///   - logger: Told when it can't be.
    init(sessions: SessionStore, logger: Logger) {
        self.sessions = sessions
        self.logger = logger
    }

    /// Remembers that a session was used just now.
    func note(_ sessionID: Int) {
        used.withLock { used in
            if used.count < Self.maxCount { used.insert(sessionID) }
        }
    }

    /// Writes down which sessions were used since the last time.
    package func writeDown() async {
        let ids = used.withLock { used in
            defer { used = [] }
            return used.sorted()
        }
        guard !ids.isEmpty else { return }
        do {
            // The last ones are written down though the service, and with it this task, is being stopped.
            try await Task { try await sessions.noteUse(of: ids) }.value
        } catch {
            logger.warning("the last use of sessions could not be noted", metadata: ["error": "\(error)"])
        }
    }
}
