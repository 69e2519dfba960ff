import ConnectionTestSupport
import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The example of nginx", .timeLimit(.minutes(3)))
struct ShippedProxyTests {
    private static let ok = ScriptedServer.Reply.send(.answer("200 OK", body: "ok"))
    /// Stays open, with a piece every second, so that no time limit of the proxy ends it.
    private static let held = ScriptedServer.Reply.drip("HTTP/1.1 200 OK\r\n\r\n", then: ":\n", pause: .seconds(1))

    /// Runs a body with the proxy in front of a scripted server.
    private static func withProxy(
        _ replies: [ScriptedServer.Reply],
        _ body: (ScriptedServer, NginxProxy.Ports) async throws -> Void
    ) async throws {
        try await ScriptedServer.with(replies) { server in
            let port = try #require(URL(string: server.endpoint)?.port)
            try await NginxProxy.withAllPorts([port]) { try await body(server, $0) }
        }
    }

    /// Sends one request over a connection of its own, from an address or else from 127.0.0.1.
    private static func send(_ request: String, to port: Int, from address: String? = nil) async throws -> HTTPAnswer? {
        try await RawConnection.open(port: port) { connection in
            try await connection.send(
                "\(request) HTTP/1.1\r\nHost: a.example.com\r\nContent-Length: 0\r\n\(field(address))\r\n"
            )
            return try await connection.readResponse()
        }
    }

    private static func field(_ address: String?) -> String {
        address.map { "\(NginxProxy.addressHeader): \($0)\r\n" } ?? ""
    }

    /// Opens connections, each of which holds a request until it is cancelled.
    private static func hold(
        from addresses: [String?],
        port: Int,
        in clients: inout ThrowingTaskGroup<Void, any Error>
    ) {
        for address in addresses {
            clients.addTask {
                try await RawConnection.open(port: port) { connection in
                    try await connection.send("GET /held HTTP/1.1\r\nHost: a\r\n\(field(address))\r\n")
                    while try await !connection.readSome().isEmpty {}
                }
            }
        }
    }

    private static func expectTooMany(_ answer: HTTPAnswer?, on port: String) throws {
        let answer = try #require(answer)
        #expect(answer.status == 429, "\(port)")
        #expect(answer.json["status"] as? Int == 429)
        #expect(answer.json["code"] as? String == "too_many_at_once")
        #expect(answer.message == "Too many requests. Please try again later!")
        #expect(answer.headers["content-type"] == "application/json")
        #expect(answer.headers["retry-after"] == "2")
    }

    @Test("The 193rd connection of one address is refused as Selfie would refuse it, and another address is served")
    func connectionsOfOneAddress() async throws {
        let replies = Array(repeating: Self.held, count: 192) + [Self.ok, Self.ok]
        try await Self.withProxy(replies) { server, ports in
            try await withThrowingTaskGroup(of: Void.self) { clients in
                Self.hold(from: Array(repeating: nil, count: 192), port: ports.plain, in: &clients)
                try await poll("all are held") { server.received.count == 192 }

                let refused = try await Self.send("GET /", to: ports.plain)
                try Self.expectTooMany(refused, on: "443")
                #expect(refused?.headers["strict-transport-security"] == "max-age=31536000")
                // What would be led to TLS counts, too.
                try Self.expectTooMany(try await Self.send("GET /", to: ports.redirecting), on: "80")
                let led = try await Self.send("GET /", to: ports.redirecting, from: "192.0.2.1")
                #expect(led?.status == 308)
                #expect(server.received.count == 192)

                let other = try await ProgramOutcome.run(
                    URL(filePath: "/usr/bin/env"),
                    ["curl", "-s", "--interface", "127.0.0.2", "http://127.0.0.1:\(ports.plain)/"],
                    directory: ProjectFolder.root
                )
                #expect(other.output == "ok", "\(other)")
                clients.cancelAll()
                try await poll("permits are free again") {
                    try await Self.send("GET /", to: ports.plain)?.status == 200
                }
                #expect(server.received.count == 194)
            }
        }
    }

    @Test("The addresses of an IPv6 /64 network are one client, and those of the next network another one")
    func connectionsOfOneNetwork() async throws {
        let replies = Array(repeating: Self.held, count: 192) + [Self.ok, Self.ok]
        try await Self.withProxy(replies) { server, ports in
            try await withThrowingTaskGroup(of: Void.self) { clients in
                let addresses = (0..<192).map { $0 % 2 == 0 ? "2001:db8::1" : "2001:db8::2" }
                Self.hold(from: addresses, port: ports.plain, in: &clients)
                try await poll("all are held") { server.received.count == 192 }
                for address in ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:ffff:ffff:ffff"] {
                    let refused = try await Self.send("GET /", to: ports.plain, from: address)
                    #expect(refused?.status == 429, "\(address)")
                }
                #expect(server.received.count == 192)
                for address in ["2001:db8:0:1::1", nil] {
                    let other = try await Self.send("GET /", to: ports.plain, from: address)
                    #expect(other?.status == 200, "\(address ?? "127.0.0.1")")
                }
                clients.cancelAll()
            }
        }
    }

    @Test("With TLS each answer has HSTS, also the proxy's own refusals")
    func strictTransportSecurity() async throws {
        // The server closes the connection of the request that the script has no reply for.
        try await Self.withProxy([Self.ok]) { _, ports in
            let large = ["--request", "POST", "--header", "Content-Length: 50000000"]
            for (status, arguments) in [(200, []), (413, large), (503, [])] {
                let outcome = try await ProgramOutcome.run(
                    URL(filePath: "/usr/bin/env"),
                    ["curl", "-sik", "https://127.0.0.1:\(ports.secure)/livez"] + arguments,
                    directory: FileManager.default.temporaryDirectory
                )
                let lines = outcome.output.split(whereSeparator: \.isNewline)
                #expect(lines.first?.hasPrefix("HTTP/1.1 \(status) ") == true, "\(outcome)")
                #expect(
                    lines.filter { $0.lowercased().hasPrefix("strict-transport-security") }
                        == ["Strict-Transport-Security: max-age=31536000"]
                )
            }
        }
    }

    @Test("Requests without TLS are redirected to the same path and query, and reach no process")
    func redirect() async throws {
        try await Self.withProxy([]) { server, ports in
            for method in ["GET", "POST"] {
                let target = "/photos/a%20b?signature=0123456789abcdef&size=small"
                let answer = try #require(try await Self.send("\(method) \(target)", to: ports.redirecting))
                #expect(answer.status == 308)
                #expect(
                    answer.headers["location"]
                        == "https://selfies.example.com/photos/a%20b?signature=0123456789abcdef&size=small"
                )
                // Whoever is between could have written it.
                #expect(answer.headers["strict-transport-security"] == nil)
            }
            // A certificate's issuer asks here, before there is TLS.
            let proof = try #require(try await Self.send("GET /.well-known/acme-challenge/x", to: ports.redirecting))
            #expect(proof.status == 404 && proof.headers["location"] == nil)
            #expect(server.received.isEmpty)
        }
    }

    @Test("It takes no TLS older than 1.2, and both ports listen to IPv6, with the same limits")
    func lines() throws {
        let file = ProjectFolder.root.appending(path: "deploy/nginx/selfie.conf")
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        func count(_ line: String) -> Int { lines.count { $0 == "    \(line)" } }
        #expect(count("ssl_protocols TLSv1.2 TLSv1.3;") == 1)
        for line in ["listen 80;", "listen [::]:80;", "listen 443 ssl;", "listen [::]:443 ssl;"] {
            #expect(count(line) == 1, "\(line)")
        }
        #expect(lines.count { $0.contains("listen ") } == 4)
        for line in ["limit_conn selfie_clients 192;", "limit_conn_status 429;", "client_header_timeout 20s;"] {
            #expect(count(line) == 2, "\(line)")
        }
    }
}
