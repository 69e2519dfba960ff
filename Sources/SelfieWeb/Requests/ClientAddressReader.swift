import HTTPTypes
import NIOCore
import SelfieCore

/// Tells who sent a request, behind as many proxies as are ours.
struct ClientAddressReader: Sendable {
    /// How many proxies a request passes that can be believed; 0 when clients connect to the service.
    let trustedProxies: Int

    static let forwardedFor = HTTPField.Name("X-Forwarded-For")

    /// The address of the client.
    ///
    /// Each proxy adds the address that it was called from to the end of `X-Forwarded-For`. So with two proxies of
    /// ours, the second address from the end is the client's. What lies before is the client's to forge.
    ///
    /// - Parameters:
    ///   - headers: The request's.
    ///   - socket: The other end of the connection.
    /// - Returns: The address; the socket's own when there is no proxy, or none that says what it should.
    func address(headers: HTTPFields, socket: SocketAddress?) -> ClientAddress {
        let direct = socket?.ipAddress.flatMap { ClientAddress($0) } ?? .none
        guard trustedProxies > 0, let name = Self.forwardedFor, let list = headers[name] else { return direct }
        let entries = list.split(separator: ",", omittingEmptySubsequences: false)
        let index = max(0, entries.count - trustedProxies)
        return ClientAddress(entries[index]) ?? direct
    }
}
