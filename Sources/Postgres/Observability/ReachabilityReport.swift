import NIOConcurrencyHelpers

/// Tells once when the database can't be reached, again for each other reason, and once when it can be again.
final class ReachabilityReport: Sendable {
    private let password: String?
    private let onChange: @Sendable (PostgresReachability) -> Void
    private let lastReason = NIOLockedValueBox<String?>(nil)

    /// - Parameters:
    ///   - password: What no reason may hold; nil when there is none.
    ///   - onChange: Called under a lock.
    init(password: String?, onChange: @escaping @Sendable (PostgresReachability) -> Void) {
        self.password = password
        self.onChange = onChange
    }

    /// An attempt to connect has failed.
    func failed(_ error: PostgresError) {
        guard case .cannotConnect(let text) = error else { return }
        let reason = Self.withoutPassword(text, password)
        // Told under the lock, so that two changes at once are told in their order.
        lastReason.withLockedValue { last in
            guard last != reason else { return }
            last = reason
            onChange(.unreachable(reason: reason))
        }
    }

    /// A connection is ready.
    func succeeded() {
        lastReason.withLockedValue { last in
            guard last != nil else { return }
            last = nil
            onChange(.reachable)
        }
    }

    /// libpq does not name passwords, but a server may say anything.
    private static func withoutPassword(_ text: String, _ password: String?) -> String {
        guard let password, !password.isEmpty else { return text }
        return text.replacing(password, with: "…")
    }
}
