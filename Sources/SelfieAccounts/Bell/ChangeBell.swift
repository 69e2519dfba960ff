import OrderedCollections
package import Postgres
import Synchronization

/// Tells all processes what has changed, after the commit.
///
/// It is a hint, so that readers need not wait for the next comparison. Within the transaction, all commits of the cluster
/// would wait in one line for it.
package final class ChangeBell: Sendable {
    /// What has changed.
    enum Ring: Hashable, Sendable {
        /// Records of a stream.
        case stream(Int)
        /// The photos, sessions or roles of a user.
        case user(Int)
        /// The schema, or roles.
        case everything

        /// As a notification has it.
        var text: String {
            switch self {
            case .stream(let id): "s\(id)"
            case .user(let id): "u\(id)"
            case .everything: "*"
            }
        }

        init?(_ text: Substring) {
            switch (text.first, Int(text.dropFirst())) {
            case ("s", let id?): self = .stream(id)
            case ("u", let id?): self = .user(id)
            case ("*", nil): self = .everything
            default: return nil
            }
        }
    }

    private struct State {
        /// The oldest first.
        var waiting: OrderedSet<Ring> = []
        var isRinging = false
        var lostCount = 0
    }

    private let postgres: PostgresClient?
    private let state = Mutex(State())

    /// The channel of the notifications.
    static let channel = "selfie_changes"
    /// How many rings a notification has: it may have 8,000 bytes (PostgreSQL, "NOTIFY").
    private static let maxCount = 350
    /// With more than this, everything is said to have changed.
    private static let maxWaitingCount = 10_000

    /// - Parameter postgres: The database; nil for a bell that nobody hears.
    package init(postgres: PostgresClient?) {
        self.postgres = postgres
    }

    /// How many notifications could not be sent, since the process began.
    package var lostCount: Int { state.withLock { $0.lostCount } }

    /// Rings, without waiting for it.
    ///
    /// Rings that come while one is under way go together in the next.
    func ring(_ rings: some Sequence<Ring>) {
        guard postgres != nil else { return }
        let begins = state.withLock { state in
            state.waiting.append(contentsOf: rings)
            if state.waiting.count > Self.maxWaitingCount { state.waiting = [.everything] }
            guard !state.isRinging, !state.waiting.isEmpty else { return false }
            state.isRinging = true
            return true
        }
        if begins { Task { await ringAll() } }
    }

    /// Tells of everything, and returns when that is done or has failed: the command line ends then.
    package func ringForEverything() async {
        await send([.everything])
    }

    private func ringAll() async {
        while let rings = next() { await send(rings) }
    }

    private func next() -> [Ring]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRinging = false
                return nil
            }
            let rings = Array(state.waiting.prefix(Self.maxCount))
            state.waiting.removeFirst(rings.count)
            return rings
        }
    }

    private func send(_ rings: [Ring]) async {
        let payload = rings.map(\.text).joined(separator: ",")
        do {
            // A hint need not outlast a crash, so nobody waits for the disk.
            try await postgres?.write(
                "SELECT set_config('synchronous_commit', 'off', true), pg_notify(\(Self.channel), \(payload))"
            )
        } catch {
            // The next comparison finds what has changed.
            state.withLock { $0.lostCount += 1 }
        }
    }
}
