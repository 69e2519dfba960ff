import Outages

/// Tells once when the database can't be reached, again for each other reason, and once when it can be again.
final class ReachabilityReport: Sendable {
    private let password: String?
    private let outage: OutageReport

    /// - Parameters:
    ///   - password: What no reason may hold; nil when there is none.
    ///   - onChange: Called under a lock.
    init(password: String?, onChange: @escaping @Sendable (PostgresReachability) -> Void) {
        self.password = password
        outage = OutageReport { change in
            switch change {
            case .failing(let reason): onChange(.unreachable(reason: reason))
            case .over: onChange(.reachable)
            }
        }
    }

    /// An attempt to connect has failed.
    func failed(_ error: PostgresError) {
        guard case .cannotConnect(let text) = error else { return }
        outage.failed(Self.withoutPassword(text, password))
    }

    /// A connection is ready.
    func succeeded() {
        outage.succeeded()
    }

    /// libpq does not name passwords, but a server may say anything.
    private static func withoutPassword(_ text: String, _ password: String?) -> String {
        guard let password, !password.isEmpty else { return text }
        return text.replacing(password, with: "…")
    }
}
