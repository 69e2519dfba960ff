import ConnectionTestSupport
import Curl
import Glibc
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@Suite("Connecting", .timeLimit(.minutes(2)))
struct ConnectingTests {
    @Test(
        "When the first address of a name refuses or is silent, the next one is connected to",
        .enabled(if: hasIPv6),
        arguments: [false, true]
    )
    func brokenFirst(isSilent: Bool) async throws {
        // Versions of libcurl differ in which they try first.
        let (first, second) = try await Self.isIPv6First() ? ("::1", "127.0.0.1") : ("127.0.0.1", "::1")
        // Other tests use ports of one of the two addresses, too. So the other address may not have the server's port free.
        for _ in 0..<20 {
            let replies = [ScriptedServer.Reply.send(.answer("200 OK", body: "hello"))]
            let isTried = try await ScriptedServer.with(replies, at: second) { server in
                let port = try #require(server.endpoint.split(separator: ":").last.flatMap { Int($0) })
                let broken: BrokenPort
                do {
                    broken = try BrokenPort(SocketAddress(ipAddress: first, port: port), isSilent: isSilent)
                } catch let failure as BrokenPort.Failure where failure.code == EADDRINUSE {
                    return false
                }
                defer { withExtendedLifetime(broken) {} }
                try await Self.check(addresses: [first, second], port: port)
                return true
            }
            if isTried { return }
        }
        Issue.record("No port is free at both addresses.")
    }

    private static func check(addresses: [String], port: Int) async throws {
        let seen = Mutex<[String]>([])
        var configuration = CurlConfiguration()
        configuration.isAllowed = { address in
            seen.withLock { $0.append(address.ipAddress ?? "") }
            return true
        }
        let answer = try await CurlClient(configuration).send(.GET, "http://localhost:\(port)")
        #expect(answer.text == "hello")
        #expect(seen.withLock(\.self) == addresses)
    }

    /// Whether this machine has a loopback address of IPv6; a container may have none.
    private static var hasIPv6: Bool {
        (try? BrokenPort(SocketAddress(ipAddress: "::1", port: 0), isSilent: true)) != nil
    }

    private static func isIPv6First() async throws -> Bool {
        let seen = Mutex<[String]>([])
        var configuration = CurlConfiguration()
        configuration.isAllowed = { address in
            seen.withLock { $0.append(address.ipAddress ?? "") }
            return false
        }
        let client = CurlClient(configuration)
        _ = await reason { _ = try await client.send(.GET, "http://localhost:1/") }
        let first = try #require(seen.withLock { $0 }.first)
        return first == "::1"
    }

    @Test("Without a descriptor for its socket, a transfer fails, and the next one succeeds again", .onDedicatedThreads)
    func noDescriptor() async throws {
        await #expect(processExitsWith: .success) {
            try await ScriptedServer.with([.send(.answer("200 OK", body: "hello"))]) { server in
                let client = CurlClient()
                let free = dup(0)
                close(free)
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let usual = limit
                // The one descriptor that is left is for the timer.
                limit.rlim_cur = rlim_t(free) + 1
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let failed = await reason { _ = try await client.send(.GET, server.endpoint) }
                #expect(failed?.isSame(as: .noDescriptor) == true, "\(String(describing: failed))")
                var rest = usual
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &rest)
                let answer = try await client.send(.GET, server.endpoint)
                #expect(answer.text == "hello")
            }
        }
    }
}
