import Budgets
import SelfieCore

/// How many photos are sent at once: in all, to an address, and to a site.
final class DownloadPlaces: Sendable {
    private let places: Places<String>
    private let sitePlaces: Places<String>

    /// A /48 network of IPv6 addresses may have so many times as many as a /64.
    private static let siteFactor = 2

    /// - Parameter limits: For all clients, and for an IPv4 address or the /64 network of an IPv6 address.
    init(limits: Places<String>.Limits) {
        places = Places(limits: limits)
        sitePlaces = Places(limits: .init(total: .max, perHolder: limits.perHolder * Self.siteFactor))
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
