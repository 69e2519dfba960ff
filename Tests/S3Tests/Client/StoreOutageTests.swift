import NIOCore
import S3TestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import S3

/// What callers are promised for the time that the store is down.
@Suite(.timeLimit(.minutes(3)))
struct StoreOutageTests {
    @Test("A store that restarts, is stopped or halted fails puts meanwhile, and serves again afterwards")
    func outages() async throws {
        try await RcloneServer.withServer { server in
            let time = ManualTime()
            var deadlines = S3Deadlines()
            // The connection from before the restart is still there, and dead.
            (deadlines.idle, deadlines.connect) = (.seconds(600), .seconds(100))
            try await withS3Client(of: server, deadlines: deadlines, clock: time) { client in
                try await Self.put(client)
                try await server.restart()
                try await Self.put(client)

                server.kill()
                #expect(try await Self.outage(client).cause != nil)
                try await server.restart()
                try await Self.put(client)

                try await server.suspend()
                // The body may be sent after the time was moved, which is a sign of life, and puts the alarm off.
                let cause = try await whilePassing({ time.ringFirst() }) { try await Self.outage(client) }.cause
                #expect(cause as? S3NoAnswer == .silent)
                server.resume()
                try await Self.put(client)
            }
        }
    }

    @Test("Nothing listens at the address: unavailable in time")
    func unroutable() async throws {
        var deadlines = S3Deadlines()
        deadlines.connect = .milliseconds(20)
        let time = ManualTime()
        // TEST-NET-1 (RFC 5737): whatever the machine's network does with it, nobody answers.
        try await withS3Client(endpoint: "http://192.0.2.1:9000", deadlines: deadlines, clock: time) { client in
            // Some networks accept connections in the place of whoever they are for.
            let failure = try await whilePassing({ time.ringFirst() }) { try await Self.outage(client) }
            #expect(failure.cause != nil)
        }
    }

    private static func put(_ client: S3Client) async throws {
        try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
    }

    private static func outage(_ client: S3Client) async throws -> S3Failure {
        let error = await failure { () async throws(S3Error) in
            try await client.put(key: "b", body: S3Body("y"), contentType: "text/plain")
        }
        guard case .unavailable(let failure) = error else { throw NotInTime(what: "\(String(describing: error))") }
        #expect(failure.status == nil)
        return failure
    }
}
