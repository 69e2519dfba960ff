import Algorithms
import Glibc

/// The internet address that a request came from.
package struct ClientAddress: Sendable, Equatable {
    /// As text, in the one form that the system writes.
    let text: String
    /// What counts as one caller: an IPv4 address, or the /64 network of an IPv6 one, of which each home has its own.
    let network: String

    /// What has no address, such as a Unix socket's other end.
    package static let none = ClientAddress(text: "none", network: "none")

    /// Reads an address.
    ///
    /// - Parameter text: IPv4 or IPv6, the latter perhaps in brackets, perhaps with a port behind it; nil for other texts.
    package init?(_ text: some StringProtocol) {
        for candidate in Self.candidates(text) {
            if let address = Self(version4: candidate) ?? Self(version6: candidate) {
                self = address
                return
            }
        }
        return nil
    }

    private init(text: String, network: String) {
        self.text = text
        self.network = network
    }

    private init?(version4 text: String) {
        var address = in_addr()
        guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
        let text = Self.text(AF_INET, &address)
        self.init(text: text, network: text)
    }

    private init?(version6 text: String) {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        let canonical = Self.text(AF_INET6, &address)
        // An IPv4 address that a socket for both kinds took (RFC 4291, section 2.5.5.2).
        if canonical.hasPrefix("::ffff:"), let mapped = Self(version4: String(canonical.dropFirst(7))) {
            self = mapped
            return
        }
        withUnsafeMutableBytes(of: &address) { bytes in
            for index in 8..<16 { bytes[index] = 0 }
        }
        self.init(text: canonical, network: Self.text(AF_INET6, &address) + "/64")
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
