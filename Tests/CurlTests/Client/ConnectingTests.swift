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
        try await ScriptedServer.with([.send(.answer("200 OK", body: "hello"))], at: second) { server in
            let port = try #require(server.endpoint.split(separator: ":").last.flatMap { Int($0) })
            let full = isSilent ? try FullPort(SocketAddress(ipAddress: first, port: port)) : nil
            defer { withExtendedLifetime(full) {} }
            let seen = Mutex<[String]>([])
            var configuration = CurlConfiguration()
            configuration.isAllowed = { address in
                seen.withLock { $0.append(address.ipAddress ?? "") }
                return true
            }
            let answer = try await CurlClient(configuration).send(.GET, "http://localhost:\(port)")
            #expect(answer.text == "hello")
            #expect(seen.withLock(\.self) == [first, second])
        }
    }

    /// Whether this machine has a loopback address of IPv6; a container may have none.
    private static var hasIPv6: Bool { (try? FullPort(SocketAddress(ipAddress: "::1", port: 0))) != nil }

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

    @Test("Without a descriptor for its socket, a transfer fails, and the next one succeeds again")
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
