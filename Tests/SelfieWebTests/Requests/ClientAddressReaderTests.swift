import HTTPTypes
import NIOCore
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieWeb

@Suite("Addresses of clients")
struct ClientAddressTests {
    @Test(
        "An address is read in each of its spellings, and an IPv6 network counts as one caller",
        arguments: [
            ("192.0.2.7", "192.0.2.7", "192.0.2.7", "192.0.2.7"),
            (" 192.0.2.7\t", "192.0.2.7", "192.0.2.7", "192.0.2.7"),
            ("192.0.2.7:4711", "192.0.2.7", "192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7", "192.0.2.7"),
            ("2001:DB8:0:0:1:2:3:4", "2001:db8::1:2:3:4", "2001:db8::/64", "2001:db8::/48"),
            ("[2001:db8::1]:443", "2001:db8::1", "2001:db8::/64", "2001:db8::/48"),
            ("[2001:db8::1]", "2001:db8::1", "2001:db8::/64", "2001:db8::/48"), ("::1", "::1", "::/64", "::/48"),
            ("2001:db8:1:2:ffff::3", "2001:db8:1:2:ffff::3", "2001:db8:1:2::/64", "2001:db8:1::/48"),
            ("2001:db8:1:3::", "2001:db8:1:3::", "2001:db8:1:3::/64", "2001:db8:1::/48"),
        ]
    )
    func spelling(text: String, canonical: String, network: String, site: String) throws {
        let address = try #require(ClientAddress(text))
        #expect(address.text == canonical)
        #expect(address.network == network)
        #expect(address.site == site)
    }

    @Test(
        "What is no address is none",
        arguments: [
            "", " ", "unknown", "_hidden", "192.0.2", "192.0.2.256", "1.2.3.4.5", "fe80::1%eth0", "a.example:80", "[",
        ]
    )
    func refusal(text: String) {
        #expect(ClientAddress(text) == nil)
    }

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

    @Test("A proxy that nobody told of is warned of once", arguments: [nil, "0", "1"])
    func warning(trustedProxies: String?) async throws {
        let settings = trustedProxies.map { ["TRUSTED_PROXIES": $0] } ?? [:]
        try await TestService.run(settings: settings) { service in
            let warnings = { service.log.entries.filter { $0.hasPrefix("warning ") && $0.contains("TRUSTED_PROXIES") } }
            _ = try await service.signIn(email: "ada@example.com")
            #expect(warnings().isEmpty)
            for _ in 0..<3 {
                _ = try await service.signIn(email: "ada@example.com", headers: [("X-Forwarded-For", "192.0.2.1")])
            }
            #expect(warnings().count == (trustedProxies == nil ? 1 : 0))
            #expect(warnings().allSatisfy { !$0.contains("192.0.2.1") })
        }
    }
}
