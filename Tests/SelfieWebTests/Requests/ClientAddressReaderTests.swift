import HTTPTypes
import NIOCore
import Testing

@testable import SelfieAccounts
@testable import SelfieWeb

@Suite("Addresses of clients behind proxies")
struct ClientAddressReaderTests {
    @Test(
        "As many proxies are believed as there are",
        arguments: [
            (0, ["203.0.113.9"], "127.0.0.1"), (1, [], "127.0.0.1"), (1, ["203.0.113.9"], "203.0.113.9"),
            (1, ["6.6.6.6, 203.0.113.9"], "203.0.113.9"), (1, ["6.6.6.6", "203.0.113.9"], "203.0.113.9"),
            (2, ["6.6.6.6, 203.0.113.9, 10.0.0.1"], "203.0.113.9"), (2, ["203.0.113.9"], "203.0.113.9"),
            (1, ["203.0.113.9, unknown"], "127.0.0.1"), (1, ["203.0.113.9,"], "127.0.0.1"), (1, [""], "127.0.0.1"),
            (3, ["::1,2001:db8::5:6, 10.0.0.2,10.0.0.1"], "2001:db8::5:6"),
        ] as [(Int, [String], String)]
    )
    func proxies(count: Int, lines: [String], expected: String) throws {
        var headers = HTTPFields()
        for line in lines {
            headers.append(HTTPField(name: try #require(HTTPField.Name("X-Forwarded-For")), value: line))
        }
        let socket = try SocketAddress(ipAddress: "127.0.0.1", port: 4711)
        let address = ClientAddressReader(trustedProxies: count).address(headers: headers, socket: socket)
        #expect(address.text == expected)
    }
}
