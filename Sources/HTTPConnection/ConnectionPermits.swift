import Budgets
import NIOCore
import Synchronization

/// How many connections a process and an address may have, and how many were closed beyond that.
package final class ConnectionPermits: Sendable {
    private let permits: Permits<Network>
    private let sitePermits: Permits<UInt64>
    private let closed = Atomic(0)

    /// What counts as one address: an IPv4 address, or the /64 network of an IPv6 address.
    private struct Network: Hashable, Sendable {
        let prefix: UInt64
        let isVersion4: Bool

        /// The /48 network of an IPv6 address, of which one customer may have all (RFC 6177).
        var site: UInt64? { isVersion4 ? nil : UInt64(bigEndian: prefix) >> 16 }
    }

    /// - Parameters:
    ///   - total: The most connections.
    ///   - perAddress: The most of one address.
    ///   - perSite: The most of one /48 network of IPv6 addresses.
    package init(total: Int, perAddress: Int, perSite: Int) {
        permits = Permits("CONNECTIONS", per: "ADDRESS", PermitLimits(total: total, perHolder: perAddress))
        sitePermits = Permits(
            "CONNECTIONS",
            per: "SITE",
            PermitLimits(total: total, perHolder: perSite, thresholdFactor: 3)
        )
    }

    /// How many connections there are.
    package var count: Int { permits.inUse }

    /// How many were closed at once, since the process began.
    package var closedCount: Int { closed.load(ordering: .relaxed) }

    /// Acquires a permit for as long as a connection lives.
    ///
    /// If there is none, close the connection.
    func admit(_ channel: any Channel) -> Bool {
        do {
            let network = Self.network(of: channel.remoteAddress)
            let permit = try permits.acquire(for: network)
            let sitePermit = try network.site.map { try sitePermits.acquire(for: $0) }
            channel.closeFuture.whenComplete { _ in withExtendedLifetime((permit, sitePermit)) {} }
            return true
        } catch {
            closed.add(1, ordering: .relaxed)
            return false
        }
    }

    /// Source of the offsets: ip(7) and ipv6(7), `sockaddr_in` and `sockaddr_in6`.
    private static func network(of address: SocketAddress?) -> Network {
        guard let address else { return Network(prefix: 0, isVersion4: false) }
        let isVersion4 = address.protocol == .inet
        guard isVersion4 || address.protocol == .inet6 else { return Network(prefix: 0, isVersion4: false) }
        return address.withSockAddr { pointer, count in
            let bytes = UnsafeRawBufferPointer(start: pointer, count: count)
            func version4(at offset: Int) -> Network {
                let prefix = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                return Network(prefix: UInt64(prefix), isVersion4: true)
            }
            if isVersion4 { return version4(at: 4) }
            let ip = bytes[8..<24]
            // An IPv4 address on a socket for both kinds (RFC 4291, section 2.5.5.2).
            if ip.prefix(10).allSatisfy({ $0 == 0 }), ip.dropFirst(10).prefix(2).allSatisfy({ $0 == 0xFF }) {
                return version4(at: 20)
            }
            return Network(prefix: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self), isVersion4: false)
        }
    }
}
