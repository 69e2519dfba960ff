import Budgets
import SelfieCore

/// How many photos are sent at once: in all, to an address, and to a site.
final class DownloadPlaces: Sendable {
    private let places: Places<String>
    private let sitePlaces: Places<String>

    /// - Parameter limits: For all clients, and for an IPv4 address or the /64 network of an IPv6 address.
    init(limits: Places<String>.Limits) {
        places = Places(.init("DOWNLOADS_AT_ONCE", per: "ADDRESS"), limits: limits)
        // A /48 network of IPv6 addresses may have twice as many as a /64, and leaves a quarter to others.
        let perSite = max(limits.perHolder, min(limits.perHolder * 2, limits.total * 3 / 4))
        sitePlaces = Places(
            .init("DOWNLOADS_AT_ONCE", per: "SITE"),
            limits: .init(total: limits.total, perHolder: perSite, thresholdFactor: 3)
        )
    }

    /// Takes a place for a download.
    ///
    /// - Parameter address: The client's address.
    /// - Returns: What to hold for as long as bytes are sent.
    /// - Throws: `NoPlace`.
    func take(for address: ClientAddress) throws(NoPlace) -> [Place] {
        [try places.take(for: address.network), try sitePlaces.take(for: address.site)]
    }
}
