import HTTPTypes
import NIOCore
import SelfieAccounts

/// Finds the address of a request's client behind trusted proxies.
struct ClientAddressReader: Sendable {
    /// The number of trusted proxies; 0 when clients connect to the service.
    let trustedProxies: Int

    static let forwardedFor = HTTPField.Name("X-Forwarded-For")

    /// The address of the client.
    ///
    /// Each proxy adds the address that it was called from to the end of `X-Forwarded-For`. So with two trusted
    /// proxies, the second address from the end is the client's. The client can forge those before it.
    ///
    /// It is the socket's own if there is no proxy, or the header has too few addresses.
    func address(headers: HTTPFields, socket: SocketAddress?) -> ClientAddress {
        let direct = socket?.ipAddress.flatMap { ClientAddress(ip: $0) } ?? .none
        guard trustedProxies > 0, let name = Self.forwardedFor, let list = headers[name] else { return direct }
        return Self.last(trustedProxies, of: list) ?? direct
    }

    /// The network of the client, for the log: that of an IPv4 address with 24 bits, of an IPv6 address with 48.
    ///
    /// It is such as `203.0.113.0/24`, and `none` for peers without an address.
    func network(headers: HTTPFields, socket: SocketAddress?) -> String {
        address(headers: headers, socket: socket).maskedNetwork
    }

    private static func last(_ count: Int, of list: String) -> ClientAddress? {
        let entries = list.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return ClientAddress(Substring(entries[max(0, entries.count - count)]))
    }
}
