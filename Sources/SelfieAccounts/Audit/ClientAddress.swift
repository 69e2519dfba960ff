import Algorithms
import Glibc

/// The internet address that a request came from.
package struct ClientAddress: Sendable, Equatable {
    /// The address as text, in the system's own form.
    let text: String
    /// What counts as one caller: an IPv4 address, or an IPv6 address's /64 network, which is one home's.
    package let network: String
    /// What counts as one customer of a provider: an IPv4 address, or an IPv6 address's /48 network.
    ///
    /// A /48 network has 65,536 networks of /64 (RFC 6177).
    package let site: String

    /// A network that many people share, so that a log names no household: 24 bits of an IPv4 address, 48 of an IPv6
    /// address.
    package var maskedNetwork: String {
        guard let end = text.lastIndex(of: "."), !text.contains(":") else { return site }
        return "\(text[..<end]).0/24"
    }

    /// For peers without an address, such as those of a Unix socket.
    package static let none = ClientAddress(text: "none", network: "none", site: "none")

    /// Reads an address.
    ///
    /// - Parameter text: An IPv4 or IPv6 address, perhaps with a port. IPv6 may be in brackets. The result is nil for
    ///   other texts.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        for candidate in Self.candidates(text) {
            if let address = Self(ip: candidate) {
                self = address
                return
            }
        }
        return nil
    }

    /// Reads an address that has no port; nil for other texts.
    package init?(ip text: String) {
        guard let address = Self(version4: text) ?? Self(version6: text) else { return nil }
        self = address
    }

    private init(text: String, network: String, site: String) {
        self.text = text
        self.network = network
        self.site = site
    }

    private init?(version4 text: String) {
        var address = in_addr()
        guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
        let text = Self.text(AF_INET, &address)
        self.init(text: text, network: text, site: text)
    }

    private init?(version6 text: String) {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        let canonical = Self.text(AF_INET6, &address)
        // An IPv4 address on a socket for both kinds (RFC 4291, section 2.5.5.2).
        if canonical.hasPrefix("::ffff:"), let mapped = Self(version4: String(canonical.dropFirst(7))) {
            self = mapped
            return
        }
        self.init(
            text: canonical,
            network: Self.network(of: address, bits: 64),
            site: Self.network(of: address, bits: 48)
        )
    }

    private static func network(of address: in6_addr, bits: Int) -> String {
        var address = address
        withUnsafeMutableBytes(of: &address) { bytes in
            for index in bits / 8..<16 { bytes[index] = 0 }
        }
        return text(AF_INET6, &address) + "/\(bits)"
    }

    private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            guard let start = buffer.baseAddress,
                let text = inet_ntop(family, address, start, socklen_t(INET6_ADDRSTRLEN))
            else { return "" }
            return String(cString: text)
        }
    }

    private static func candidates(_ text: some StringProtocol) -> [String] {
        let whole = String(text.trimming { $0 == " " || $0 == "\t" })
        if whole.first == "[" { return [String(whole.dropFirst().prefix { $0 != "]" })] }
        let withoutPort = whole.split(separator: ":", omittingEmptySubsequences: false)
        return withoutPort.count == 2 ? [String(withoutPort[0])] : [whole]
    }
}
