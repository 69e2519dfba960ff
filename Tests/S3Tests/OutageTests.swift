import NIOCore
import TestSupport
import Testing

@testable import S3

/// What callers are promised for the time that the store is down.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct OutageTests {
    /// The promise to the caller of a put, in all kinds of outage, and what a busy machine adds to it.
    static let promise = Duration.milliseconds(4_500)
    static let lateness = Duration.milliseconds(1_500)

    @Test("A store that refuses connections fails a put in time, and serves again when it is back")
    func refused() async throws {
        try await RcloneServer.withServer { server in
            try await withClient(of: server) { client in
                try await Self.put(client)
                server.kill()
                try await Self.expectOutage(client)
                try await server.restart()
                try await Self.put(client)
            }
        }
    }

    @Test("A halted store fails a put in time, and serves again when it runs on", arguments: [1, 20_000_000])
    func halted(length: Int) async throws {
        try await RcloneServer.withServer { server in
            try await withClient(of: server) { client in
                try await Self.put(client)
                server.suspend()
                try await Self.expectOutage(client, length: length)
                server.resume()
                try await Self.put(client)
            }
        }
    }

    @Test("A store that went away between two calls, its connection idle, costs nobody an error")
    func staleConnection() async throws {
        try await RcloneServer.withServer { server in
            try await withClient(of: server) { client in
                try await Self.put(client)
                try await server.restart()
                try await Self.put(client)
            }
        }
    }

    @Test("Nobody at the address: unavailable in time")
    func unroutable() async throws {
        // TEST-NET-1 (RFC 5737): whatever the machine's network does with it, nobody answers.
        try await withClient(endpoint: "http://192.0.2.1:9000") { client in
            try await Self.expectOutage(client)
        }
    }

    private static func put(_ client: S3Client) async throws {
        try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
    }

    private static func expectOutage(_ client: S3Client, length: Int = 1) async throws {
        let body = S3Body.streamed(length)
        let start = ContinuousClock.now
        let error = await failure { () async throws(S3Error) in
            try await client.put(key: "b", body: body, contentType: "text/plain")
        }
        guard case .unavailable(let failure) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.status == nil)
        #expect(start.duration(to: .now) < promise + lateness)
    }
}
