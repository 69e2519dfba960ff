import HTTPTypes
import NIOCore
import SelfieCore

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
    /// - Parameters:
    ///   - headers: The request's.
    ///   - socket: The other end of the connection.
    /// - Returns: The address. It is the socket's own if there is no proxy, or the header has too few addresses.
    func address(headers: HTTPFields, socket: SocketAddress?) -> ClientAddress {
        let direct = socket?.ipAddress.flatMap { ClientAddress($0) } ?? .none
        guard trustedProxies > 0, let name = Self.forwardedFor, let list = headers[name] else { return direct }
        let entries = list.split(separator: ",", omittingEmptySubsequences: false)
        let index = max(0, entries.count - trustedProxies)
        return ClientAddress(entries[index]) ?? direct
    }
}
