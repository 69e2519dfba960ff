import ConnectionTestSupport
import NIOCore
import NIOHTTP1
import Testing

@testable import Curl

@Suite("Proxies of the environment", .timeLimit(.minutes(1)))
struct ProxySettingsTests {
    @Test("Each scheme has its own, the lower-case name first, and one for all; http_proxy has no other spelling")
    func variables() {
        let settings = ProxySettings([
            "http_proxy": "http://a:1", "HTTP_PROXY": "http://evil:1", "https_proxy": "http://b:1",
            "HTTPS_PROXY": "http://c:1",
        ])
        #expect(settings.proxy(for: "http://s3.example/") == "http://a:1")
        #expect(settings.proxy(for: "HTTPS://s3.example/") == "http://b:1")
        #expect(ProxySettings(["HTTPS_PROXY": "http://c:1"]).proxy(for: "https://s3.example/") == "http://c:1")
        #expect(ProxySettings(["HTTP_PROXY": "http://evil:1"]).proxy(for: "http://s3.example/") == nil)
        #expect(
            ProxySettings(["ALL_PROXY": "http://d:1", "https_proxy": ""]).proxy(for: "https://s3.example/")
                == "http://d:1"
        )
        #expect(ProxySettings([:]) == .none)
    }

    @Test(
        "This machine, and the addresses that give keys, are reached without one",
        arguments: [
            "http://127.0.0.1:9000/a", "http://localhost:9000/", "http://localhost/", "https://[::1]/",
            "http://169.254.169.254/latest", "http://169.254.170.2/v2", "http://[fd00:ec2::254]/latest",
        ]
    )
    func direct(url: String) {
        #expect(ProxySettings(["all_proxy": "http://d:1"]).proxy(for: url) == nil)
        #expect(ProxySettings(["all_proxy": "http://d:1"]).proxy(for: "http://localhost.example/") == "http://d:1")
    }

    @Test(
        "Exceptions name hosts and domains, with or without a dot before them",
        arguments: [
            ("store.example", true), ("a.store.example", true), ("store.example:9000", true),
            ("mystore.example", false),
            ("store.example.org", false), ("10.0.0.1", true), ("[fd00::1]:80", true),
        ]
    )
    func exceptions(authority: String, isDirect: Bool) {
        let settings = ProxySettings(["all_proxy": "http://d:1", "no_proxy": " Store.example, 10.0.0.1,fd00::1"])
        #expect((settings.proxy(for: "https://\(authority)/a") == nil) == isDirect)
        #expect(
            ProxySettings(["all_proxy": "http://d:1", "no_proxy": "*"]).proxy(for: "https://\(authority)/a") == nil
        )
        #expect(
            ProxySettings(["all_proxy": "http://d:1", "no_proxy": ".store.example"]).proxy(for: "http://store.example/")
                == nil
        )
    }

    @Test("A request for another host goes through it, unless an exception names the host")
    func request() async throws {
        try await ScriptedServer.with([.send(.answer("200 OK", body: "from the proxy"))]) { server in
            var configuration = CurlConfiguration(environment: ["http_proxy": server.endpoint])
            let answer = try await CurlClient(configuration).send(.GET, "http://store.invalid/a?b")
            #expect(answer.text == "from the proxy")
            #expect(server.received.map(\.line) == ["GET http://store.invalid/a?b HTTP/1.1"])
            configuration.proxies = ProxySettings(["http_proxy": server.endpoint, "no_proxy": "x.example,.invalid"])
            let reason = await reason { _ = try await CurlClient(configuration).send(.GET, "http://store.invalid/a") }
            guard case .unresolved = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A proxy that is not there, or that refuses to connect, is named as the cause")
    func brokenProxy() async throws {
        let port = try SilentPort.closed()
        for (url, environment) in [
            ("http://store.invalid/", ["http_proxy": "http://proxy.invalid:1"]),
            ("https://store.invalid/", ["https_proxy": "http://127.0.0.1:\(port)"]),
        ] {
            let client = CurlClient(CurlConfiguration(environment: environment))
            let reason = await reason { _ = try await client.send(.GET, url) }
            guard case .proxy = reason else {
                Issue.record("\(String(describing: reason))")
                continue
            }
        }
        try await ScriptedServer.with([.send(.answer("403 Forbidden"))]) { server in
            let client = CurlClient(CurlConfiguration(environment: ["HTTPS_PROXY": server.endpoint]))
            let reason = await reason { _ = try await client.send(.GET, "https://store.invalid/") }
            guard case .proxy = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(server.received.map(\.line) == ["CONNECT store.invalid:443 HTTP/1.1"])
        }
    }
}
