import NIOConcurrencyHelpers

/// A client's trusted certificates, which are read when the first connection needs them.
///
/// They are read again after a day, so that a service that runs for months sees the distribution's updates.
final class TrustCache: Sendable {
    private let source: TrustSource
    private let latest = NIOLockedValueBox<(store: TrustStore, date: ContinuousClock.Instant)?>(nil)

    private static let maxAge: Duration = .seconds(24 * 3_600)

    init(_ source: TrustSource) { self.source = source }

    /// - Throws: ``TLSFailure/trustFile(path:)``.
    func current() throws(CurlError) -> TrustStore {
        if let latest = latest.withLockedValue({ $0 }), latest.date.duration(to: .now) < Self.maxAge {
            return latest.store
        }
        let store = try TrustStore(source)
        latest.withLockedValue { $0 = (store, .now) }
        return store
    }
}
