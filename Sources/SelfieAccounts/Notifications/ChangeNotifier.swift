import OrderedCollections
package import Postgres
import Synchronization

/// Notifies all processes of what has changed, after the commit (PostgreSQL, "NOTIFY").
///
/// A notification is a hint, so that readers need not wait for the next comparison. Inside of transactions,
/// notifications would make all commits of the cluster wait for each other.
package final class ChangeNotifier: Sendable {
    /// What has changed.
    package enum Notification: Hashable, Sendable {
        /// Records of a stream.
        case stream(Int)
        /// The photos, sessions or roles of a user.
        case user(Int)
        /// What is to be sent out.
        case deliveries
        /// The schema, or roles.
        case everything

        /// As the payload has it.
        var text: String {
            switch self {
            case .stream(let id): "s\(id)"
            case .user(let id): "u\(id)"
            case .deliveries: "d"
            case .everything: "*"
            }
        }

        package init?(_ text: Substring) {
            switch (text.first, Int(text.dropFirst())) {
            case ("s", let id?): self = .stream(id)
            case ("u", let id?): self = .user(id)
            case ("d", nil): self = .deliveries
            case ("*", nil): self = .everything
            default: return nil
            }
        }
    }

    private struct State {
        /// The oldest first.
        var waiting: OrderedSet<Notification> = []
        var isSending = false
        var lostCount = 0
    }

    private let postgres: PostgresClient?
    private let state = Mutex(State())

    /// The channel of the notifications.
    package static let channel = "selfie_changes"
    /// The most notifications in one payload, which has 8,000 bytes at most (PostgreSQL, "NOTIFY").
    private static let maxCount = 350
    /// With more than this, one notification of everything is sent.
    private static let maxWaitingCount = 10_000

    /// - Parameter postgres: The database; nil to send nothing.
    package init(postgres: PostgresClient?) {
        self.postgres = postgres
    }

    /// How many payloads could not be sent, since the process began.
    package var lostCount: Int { state.withLock { $0.lostCount } }

    /// Sends notifications in the background.
    ///
    /// Those that come while a payload is being sent share the next one.
    package func notify(_ notifications: some Sequence<Notification>) {
        guard postgres != nil else { return }
        let begins = state.withLock { state in
            state.waiting.append(contentsOf: notifications)
            if state.waiting.count > Self.maxWaitingCount { state.waiting = [.everything] }
            guard !state.isSending, !state.waiting.isEmpty else { return false }
            state.isSending = true
            return true
        }
        if begins { Task { await sendAll() } }
    }

    /// Notifies of everything, and returns when that was sent or has failed: a command ends then.
    package func notifyOfEverything() async {
        await send([.everything])
    }

    private func sendAll() async {
        while let notifications = next() { await send(notifications) }
    }

    private func next() -> [Notification]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isSending = false
                return nil
            }
            let notifications = Array(state.waiting.prefix(Self.maxCount))
            state.waiting.removeFirst(notifications.count)
            return notifications
        }
    }

    private func send(_ notifications: [Notification]) async {
        let payload = notifications.map(\.text).joined(separator: ",")
        do {
            // A hint need not outlast a crash, so it does not wait for the disk.
            try await postgres?.write(
                "SELECT set_config('synchronous_commit', 'off', true), pg_notify(\(Self.channel), \(payload))"
            )
        } catch {
            // The next comparison finds what has changed.
            state.withLock { $0.lostCount += 1 }
        }
    }
}
