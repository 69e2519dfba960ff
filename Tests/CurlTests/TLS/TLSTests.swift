import ConnectionTestSupport
import Curl
import Foundation
import NIOHTTP1
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

@Suite("Transfers over TLS", .timeLimit(.minutes(2)))
struct TLSTests {
    /// A client that trusts one authority.
    private static func client(
        trusting path: String,
        _ environment: [String: String] = [:]
    ) -> CurlClient {
        CurlClient(CurlConfiguration(environment: environment.merging(["SSL_CERT_FILE": path]) { $1 }))
    }

    private static func withAuthority(_ body: (URL, TestCertificate) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            try await body(folder, try await .make("authority", for: nil, in: folder))
        }
    }

    private static func expect(
        _ failure: TLSFailure,
        _ certificate: TestCertificate,
        trusting path: String?,
        options: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await TLSPeer.with(certificate, options) { peer in
            let client = path.map { Self.client(trusting: $0) } ?? CurlClient(CurlConfiguration(environment: [:]))
            let reason = await reason { _ = try await client.send(.GET, "https://localhost:\(peer.port)/") }
            #expect(
                reason?.isSame(as: .tls(failure)) == true,
                "\(String(describing: reason))",
                sourceLocation: sourceLocation
            )
        }
    }

    @Test("A private authority is trusted through SSL_CERT_FILE, and the connection has TLS 1.2 at least")
    func privateAuthority() async throws {
        try await Self.withAuthority { folder, authority in
            let server = try await TestCertificate.make(
                "server",
                for: "DNS:localhost,IP:127.0.0.1",
                by: authority,
                in: folder
            )
            for (options, version) in [(["-tls1_2"], "TLSv1.2"), ([], "TLSv1.3")] {
                try await TLSPeer.with(server, options) { peer in
                    let client = Self.client(trusting: authority.path)
                    for host in ["localhost", "127.0.0.1"] {
                        let answer = try await client.send(.GET, "https://\(host):\(peer.port)/")
                        #expect(answer.status == 200)
                        #expect(answer.text.contains(version))
                    }
                }
            }
        }
    }

    @Test("An expired, an unknown and a self-signed certificate, and one for another name, are refused by these names")
    func certificates() async throws {
        try await Self.withAuthority { folder, authority in
            func make(_ name: String, _ names: String = "DNS:localhost", days: Int = 2) async throws -> TestCertificate
            {
                try await .make(name, for: names, by: authority, days: days, in: folder)
            }
            try await Self.expect(.unknownIssuer, try await make("server"), trusting: nil)
            try await Self.expect(.expired, try await make("old", days: -1), trusting: authority.path)
            try await Self.expect(.wrongName, try await make("other", "DNS:other.example"), trusting: authority.path)
            let own = try await TestCertificate.make("own", for: "DNS:localhost", in: folder)
            try await Self.expect(.selfSigned, own, trusting: authority.path)
        }
    }

    @Test("TLS 1.1 is not good enough")
    func oldVersion() async throws {
        try await Self.withAuthority { folder, authority in
            let server = try await TestCertificate.make("server", for: "DNS:localhost", by: authority, in: folder)
            let old = ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"]
            try await Self.expect(.oldVersion, server, trusting: authority.path, options: old)
        }
    }

    @Test("Who asks for HTTP/2 gets it over one connection, and another one after an error")
    func http2() async throws {
        try await Self.withAuthority { folder, authority in
            let certificate = try await TestCertificate.make("server", for: "DNS:localhost", by: authority, in: folder)
            try await HTTP2Server.with(certificate) { server in
                var configuration = CurlConfiguration(environment: ["SSL_CERT_FILE": authority.path])
                let url = "https://localhost:\(server.port)/"
                #expect(try await CurlClient(configuration).send(.GET, url).text.hasPrefix("HTTP/1.1 "))
                configuration.version = .http2
                let client = CurlClient(configuration)
                let first = try await client.send(.GET, url).text
                #expect(first.hasPrefix("HTTP/2.0 "))
                let others = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<20 { group.addTask { try await client.send(.GET, url).text } }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(others == [first])
                let reason = await reason { _ = try await client.send(.GET, "\(url)end") }
                #expect(reason?.isSame(as: .cutOff) == true, "\(String(describing: reason))")
                let last = try await client.send(.GET, url).text
                #expect(last.hasPrefix("HTTP/2.0 ") && last != first)
            }
        }
    }

    @Test("A file of SSL_CERT_FILE that is missing, or holds no certificate, is named")
    func trustFile() async throws {
        try await TemporaryFolder.with { folder in
            let empty = folder.appending(path: "empty.pem")
            try Data().write(to: empty)
            for path in [empty.path, "/nowhere.pem"] {
                let reason = await reason {
                    _ = try await Self.client(trusting: path).send(.GET, "https://localhost:1/")
                }
                #expect(reason?.isSame(as: .tls(.trustFile(path: path))) == true, "\(String(describing: reason))")
            }
        }
    }

    @Test("A tunnel through the proxy of HTTPS_PROXY ends at the right peer")
    func tunnel() async throws {
        try await Self.withAuthority { folder, authority in
            let server = try await TestCertificate.make("server", for: "DNS:store.invalid", by: authority, in: folder)
            try await TLSPeer.with(server) { peer in
                let proxy = try ServerProcess("connect-proxy")
                defer { proxy.stop() }
                let port = try await proxy.launch(PythonScript.command("connect_proxy.py") + ["\(peer.port)"]) {
                    output in
                    output.firstMatch(of: /listening on (\d+)/).map { $0.1 }
                }
                let client = Self.client(trusting: authority.path, ["HTTPS_PROXY": "http://127.0.0.1:\(port)"])
                for _ in 0..<2 { #expect(try await client.send(.GET, "https://store.invalid/").status == 200) }
                #expect(proxy.logTail.contains("CONNECT store.invalid:443 HTTP/1.1"))
                let wrong = await reason { _ = try await client.send(.GET, "https://other.invalid/") }
                #expect(wrong?.isSame(as: .tls(.wrongName)) == true, "\(String(describing: wrong))")
            }
        }
    }
}
