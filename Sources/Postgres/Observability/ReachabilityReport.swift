import Outages

/// Reports when the database can't be reached, and when it can be again.
struct ReachabilityReport: Sendable {
    /// The password, which no reason may contain; nil when there is none.
    private let password: String?
    private let outage: OutageReport

    init(_ configuration: PostgresConfiguration) {
        password = configuration.options["password"].flatMap { $0.isEmpty ? nil : $0 }
        outage = OutageReport(onChange: configuration.onReachabilityChange)
    }

    /// An attempt to connect has failed.
    func failed(_ error: PostgresError) {
        guard case .cannotConnect(let text) = error else { return }
        // libpq does not quote passwords, but a server's message may.
        outage.failed(password.map { text.replacing($0, with: "…") } ?? text)
    }

    /// A connection is ready.
    func succeeded() {
        outage.succeeded()
    }
}
