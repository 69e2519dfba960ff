import NIOCore
import Testing

@testable import Webhooks

@Suite("Where webhooks may lead")
struct WebhookNetworkTests {
    private static func address(_ text: String) throws -> SocketAddress {
        try SocketAddress(ipAddress: text, port: 443)
    }

    @Test(
        "Nothing inside",
        arguments: [
            "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254",
            "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.7",
            "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1",
            "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1", "2001:db8::1", "2001::1", "3fff::1",
            "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:10.0.0.1",
            "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::1", "64:ff9b:1::1",
        ]
    )
    func inside(text: String) throws {
        let networks = WebhookNetworks()
        #expect(try !networks.allow(Self.address(text), isEncrypted: true))
        #expect(try !networks.allow(Self.address(text), isEncrypted: false))
    }

    @Test(
        "The public, with TLS only",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
            "223.255.255.255",
            "100.63.255.255", "100.128.0.0", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::101:101",
            "2002:101:101::1",
        ]
    )
    func outside(text: String) throws {
        let networks = WebhookNetworks()
        #expect(try networks.allow(Self.address(text), isEncrypted: true))
        #expect(try !networks.allow(Self.address(text), isEncrypted: false))
    }

    @Test("Networks that are named, also in IPv6's form, and no others")
    func named() throws {
        let networks = WebhookNetworks(
            named: ["10.1.0.0/16", "192.168.7.9", "fd00::/8"].compactMap { InternetNetwork($0) }
        )
        for text in ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "192.168.7.9", "fd12::1"] {
            #expect(try networks.allow(Self.address(text), isEncrypted: false), "\(text)")
        }
        for text in ["10.0.255.255", "10.2.0.0", "192.168.7.8", "192.168.7.10", "fc00::1", "::1", "1.1.1.1"] {
            #expect(try !networks.allow(Self.address(text), isEncrypted: false), "\(text)")
        }
    }

    @Test(
        "What is no network",
        arguments: [
            "", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "fd00::/129", "fd00::1/8", "example.com", "10.0.0.0/-1",
            "10.0.0.0/+8", "10.0/8", "10.0.0.0/8/8", " 10.0.0.0/8", "10.0.0.0/0008",
        ]
    )
    func malformed(text: String) {
        #expect(InternetNetwork(text) == nil)
    }

    @Test("URLs of receivers")
    func urls() {
        for text in ["https://example.com", "HTTPS://example.com:8443/a?b=c", "https://[::1]/", "https://127.1/x"] {
            #expect(WebhookURL(text)?.isEncrypted == true, "\(text)")
        }
        #expect(WebhookURL("http://10.0.0.1/")?.isEncrypted == false)
        for text in [
            "", "example.com", "ftp://example.com", "https://", "https:///a", "https://a:b@example.com",
            "https://exa mple.com",
            "https://example.com/#a", "https://éxample.com", "https://:443/", "https://example.com\\@10.0.0.1/",
            "https://\(String(repeating: "a", count: 2_041))",
        ] {
            #expect(WebhookURL(text) == nil, "\(text)")
        }
        #expect(WebhookURL("https://hooks.example.com:8443/secret?token=1")?.host == "hooks.example.com:8443")
    }
}
