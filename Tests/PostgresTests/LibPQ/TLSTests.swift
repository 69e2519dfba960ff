import DatabaseTestSupport
import Glibc
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Postgres

@Suite("TLS", .timeLimit(.minutes(2)))
struct TLSTests {
    private func url(_ server: TLSServer, host: String = "localhost", _ parameters: String) -> String {
        "postgresql://selfie@\(host):\(server.port)/postgres?\(parameters)"
    }

    private func isEncrypted(_ client: PostgresClient) async throws -> Bool {
        try await client.read("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0].decode("ssl")
    }

    @Test("verify-full accepts only the server that the certificate names; require accepts any certificate")
    func modes() async throws {
        let server = try await TLSServer.shared.value
        for parameters in ["sslmode=verify-full&sslrootcert=\(server.rootCertificate)", "sslmode=require"] {
            try await withClient(url: url(server, parameters)) { client async throws in
                #expect(try await isEncrypted(client))
            }
        }
        for (host, certificate) in [
            ("localhost", server.otherRootCertificate), ("127.0.0.1", server.rootCertificate),
        ] {
            let parameters = "sslmode=verify-full&sslrootcert=\(certificate)"
            try await withClient(url: url(server, host: host, parameters)) { client in
                let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT 1") }
                guard case .cannotConnect = error else {
                    Issue.record("\(host): \(String(reflecting: error))")
                    return
                }
            }
        }
    }

    @Test("The system gives up a silent peer: after half a minute with or without unacknowledged bytes")
    func silence() async throws {
        let server = try await TLSServer.shared.value
        let libpq = try LibPQ.connect(url: url(server, "sslmode=require"), parameters: [:])
        let socket = libpq.socket ?? -1
        func option(_ level: Int, _ name: CInt) -> CInt {
            var (value, length) = (CInt(-1), socklen_t(MemoryLayout<CInt>.size))
            getsockopt(socket, CInt(level), name, &value, &length)
            return value
        }
        let tcp = Int(IPPROTO_TCP)
        #expect(option(Int(SOL_SOCKET), SO_KEEPALIVE) == 1)
        #expect(option(tcp, TCP_KEEPIDLE) == 15)
        #expect(option(tcp, TCP_KEEPINTVL) == 5)
        #expect(option(tcp, TCP_KEEPCNT) == 3)
        #expect(option(tcp, TCP_USER_TIMEOUT) == 30_000)
    }

    @Test("An answer whose TLS records end anywhere arrives whole, also when the socket has nothing more to say")
    func records() async throws {
        let server = try await TLSServer.shared.value
        let options = try PostgresConfiguration(url: try await TestCluster.scratchDatabase()).options
        let socket = "\(try #require(options["host"]))/.s.PGSQL.\(options["port"] ?? "5432")"
        let relay = try ServerProcess("tls-relay")
        defer { relay.stop() }
        let arguments = [socket, server.rootCertificate, server.rootCertificate.replacing(".crt", with: ".key")]
        let command = try PythonScript.command("tls_relay.py") + arguments + ["8192", "10000"]
        let port = try await relay.launch(command) { $0.firstMatch(of: /listening on (\d+)/).map { $0.1 } }
        let (user, database) = (try #require(options["user"]), try #require(options["dbname"]))
        let url = "postgresql://\(user)@127.0.0.1:\(port)/\(database)?sslmode=require&gssencmode=disable"
        try await withClient(url: url, maxConnections: 1) { client in
            for size in [18_000, 18_192, 17_900, 40_000] {
                let row = try await client.read("SELECT repeat('x', \(size)::int) AS text")[0]
                #expect(try row.decode("text", as: String.self).utf8.count == size)
            }
        }
    }

    @Test("Answers of many sizes, of many callers at once, arrive whole over TLS")
    func sizes() async throws {
        let server = try await TLSServer.shared.value
        try await withClient(url: url(server, "sslmode=require"), maxConnections: 2) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<8 {
                    group.addTask {
                        var generator = SplitMix64(seed: UInt64(caller))
                        for size in [0, 1, 5000, 8191, 16_384, 70_000, 300_000].shuffled(using: &generator) {
                            let row = try await client.read(
                                "SELECT \(caller) AS caller, repeat('x', \(size)::int) AS text"
                            )[0]
                            #expect(try row.decode("caller", as: Int.self) == caller)
                            #expect(try row.decode("text", as: String.self).utf8.count == size)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
