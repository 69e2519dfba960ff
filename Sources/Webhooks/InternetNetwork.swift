import Glibc
package import NIOCore

/// A range of addresses (CIDR, RFC 4632), such as `10.0.0.0/8`.
package struct InternetNetwork: Sendable, Equatable {
    /// 4 or 16 bytes; those behind the prefix are 0.
    private let bytes: [UInt8]
    private let prefixBitCount: Int

    /// Reads a range, or one address.
    ///
    /// - Parameter text: Such as `10.0.0.0/8`, `fd00::/8` or `192.168.1.7`. The result is nil for other texts, and for ranges
    ///   with bits behind the prefix.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = InternetAddress(String(first))?.bytes else { return nil }
        guard parts.count == 2 else {
            self.init(bytes, prefixBitCount: bytes.count * 8)
            return
        }
        let digits = parts[1]
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int(digits), count <= bytes.count * 8
        else { return nil }
        self.init(bytes, prefixBitCount: count)
        guard self.bytes == bytes else { return nil }
    }

    private init(_ bytes: [UInt8], prefixBitCount: Int) {
        self.bytes = bytes.enumerated().map { index, byte in
            let bitCount = min(8, max(0, prefixBitCount - index * 8))
            return byte & ~(bitCount == 8 ? 0 : 0xFF >> UInt8(bitCount))
        }
        self.prefixBitCount = prefixBitCount
    }

    func contains(_ address: InternetAddress) -> Bool {
        address.bytes.count == bytes.count
            && InternetNetwork(address.bytes, prefixBitCount: prefixBitCount).bytes == bytes
    }
}

/// An IPv4 or IPv6 address.
package struct InternetAddress: Sendable, Equatable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The address of a socket; nil for one that is none of the internet's.
    package init?(_ address: SocketAddress) {
        guard let text = address.ipAddress, let parsed = InternetAddress(text) else { return nil }
        self = parsed
    }

    /// Reads an address in the usual form; nil for other texts.
    package init?(_ text: String) {
        var (version4, version6) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &version4) == 1 {
            bytes = withUnsafeBytes(of: version4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &version6) == 1 {
            bytes = withUnsafeBytes(of: version6) { Array($0) }
        } else {
            return nil
        }
    }

    /// The IPv4 address that an IPv6 address stands for; nil for none.
    var embedded: InternetAddress? {
        guard bytes.count == 16 else { return nil }
        for (network, range) in Self.embedding where network.contains(self) {
            return InternetAddress(bytes: Array(bytes[range]))
        }
        return nil
    }

    /// Whether the whole internet can reach it: none of the networks for special purposes.
    package var isPublic: Bool {
        if let embedded { return embedded.isPublic }
        if bytes.count == 4 { return !Self.special4.contains { $0.contains(self) } }
        // Only this part of the addresses is given to the public so far (RFC 4291, section 2.4).
        return Self.global6.contains { $0.contains(self) } && !Self.special6.contains { $0.contains(self) }
    }

    /// Mapped and compatible addresses (RFC 4291, section 2.5.5), translated ones (RFC 6052), and 6to4 (RFC 3056).
    private static let embedding: [(InternetNetwork, Range<Int>)] = [
        ("::ffff:0:0/96", 12..<16), ("::/96", 12..<16), ("::ffff:0:0:0/96", 12..<16), ("64:ff9b::/96", 12..<16),
        ("2002::/16", 2..<6),
    ].compactMap { text, range in InternetNetwork(text).map { ($0, range) } }

    /// Source: IANA, "IPv4 Special-Purpose Address Registry" (RFC 6890), multicast (RFC 5771) and class E (RFC 1112).
    private static let special4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap { InternetNetwork($0) }

    private static let global6 = [InternetNetwork("2000::/3")].compactMap(\.self)

    /// Source: IANA, "IPv6 Special-Purpose Address Registry", within 2000::/3.
    private static let special6 = ["2001::/23", "2001:db8::/32", "3fff::/20"].compactMap { InternetNetwork($0) }
}

/// Where webhooks may lead: to the public, and into the networks that an operator names.
package struct WebhookNetworks: Sendable, Equatable {
    private let named: [InternetNetwork]

    package init(named: [InternetNetwork] = []) { self.named = named }

    /// Whether the operator names any.
    package var namesAny: Bool { !named.isEmpty }

    /// Whether a connection may be made.
    ///
    /// - Parameters:
    ///   - address: The address that is connected to, after all resolving.
    ///   - isEncrypted: Without TLS, only named networks are allowed.
    /// - Returns: Whether it may.
    package func allow(_ address: SocketAddress, isEncrypted: Bool) -> Bool {
        guard let address = InternetAddress(address) else { return false }
        let isNamed = named.contains { network in
            network.contains(address) || address.embedded.map(network.contains) ?? false
        }
        return isNamed || isEncrypted && address.isPublic
    }
}
