import Testing

@testable import SelfieAccounts

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
        "Other texts are not addresses",
        arguments: [
            "", " ", "unknown", "_hidden", "192.0.2", "192.0.2.256", "1.2.3.4.5", "fe80::1%eth0", "a.example:80", "[",
        ]
    )
    func refusal(text: String) {
        #expect(ClientAddress(text) == nil)
    }
}
