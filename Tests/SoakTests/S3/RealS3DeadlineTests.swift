import ConnectionTestSupport
import NIOCore
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// The deadlines of calls to a bucket in real time, one case of each kind.
@Suite("S3's deadlines in real time", .serialized, .timeLimit(.minutes(5)))
struct RealS3DeadlineTests {
    /// What a busy machine adds to the 4.4 seconds that are promised.
    private static let promise = Duration.seconds(6)

    private static func withClient(
        endpoint: String,
        deadlines: S3Deadlines = S3Deadlines(),
        _ body: (S3Client) async throws -> Void
    ) async throws {
        try await withS3Client(endpoint: endpoint, deadlines: deadlines, retries: S3RetryPolicy(), perform: body)
    }

    /// Why a put fails, and how long it takes.
    private static func put(_ body: S3Body, to client: S3Client) async throws -> (cause: S3NoAnswer?, time: Duration) {
        let start = ContinuousClock.now
        let error = await failure { () async throws(S3Error) in
            try await client.put(key: "a", body: body, contentType: "image/jpeg")
        }
        let time = start.duration(to: .now)
        guard case .unavailable(let failure) = error else { throw NotInTime(what: "\(String(describing: error))") }
        #expect(failure.status == nil)
        return (failure.cause as? S3NoAnswer, time)
    }

    @Test(
        "A silent store fails a put in time, be the body small or larger than the sockets' buffers",
        arguments: [5, 20_000_000]
    )
    func silentStore(length: Int) async throws {
        try await ScriptedServer.with([.hang, .hang, .hang]) { server in
            try await Self.withClient(endpoint: server.endpoint) { client in
                let (cause, time) = try await Self.put(.streamed(length), to: client)
                #expect(cause == .silent)
                // What the sockets take at first moves, and is counted from its end.
                #expect(time >= .milliseconds(3_900) && time < Self.promise + .seconds(length > 5 ? 4 : 0))
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A later try that meets silence has only what the first left over")
    func silenceAfterRetry() async throws {
        let slowDown = ScriptedServer.Reply.send(.failure("503 Slow Down", code: "SlowDown"))
        try await ScriptedServer.with([slowDown, .hang, .hang]) { server in
            try await Self.withClient(endpoint: server.endpoint) { client in
                let (cause, time) = try await Self.put(S3Body("x"), to: client)
                #expect(cause == .silent)
                #expect(time < Self.promise)
            }
            #expect(server.received.count == 2)
        }
    }

    @Test("An upload that takes longer than the allowed silence goes through while it moves")
    func slowUpload() async throws {
        try await ScriptedServer.with([.send(.stored), .send(.stored)]) { server in
            let start = ContinuousClock.now
            try await Self.withClient(endpoint: server.endpoint) { client in
                let body = S3Body.streamed(32_000_000) { try await Task.sleep(for: .milliseconds(50)) }
                try await client.put(key: "a", body: body, contentType: "image/jpeg")
            }
            #expect(start.duration(to: .now) > .seconds(5))
            #expect(server.received.map(\.body.readableBytes) == [32_000_000])
        }
    }

    @Test("A put that moves for longer than its whole deadline ends there")
    func overdueUpload() async throws {
        var deadlines = S3Deadlines()
        deadlines.put = .milliseconds(1_500)
        let reply = ScriptedServer.Reply.readSlowly(pause: .milliseconds(100), then: .stored)
        try await ScriptedServer.with([reply, reply]) { server in
            try await Self.withClient(endpoint: server.endpoint, deadlines: deadlines) { client in
                let (cause, time) = try await Self.put(S3Body(ByteBuffer(repeating: 1, count: 20_000_000)), to: client)
                #expect(cause == .overdue)
                #expect(time >= .milliseconds(1_500) && time < .seconds(6))
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("Bytes that stop coming end a download in time")
    func silentDownload() async throws {
        let half = ScriptedServer.Reply.sendAndHang("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        try await ScriptedServer.with([half]) { server in
            try await Self.withClient(endpoint: server.endpoint) { client in
                let object = try await client.get(key: "a")
                let start = ContinuousClock.now
                let error = await failure { () async throws(S3Error) in _ = try await object.bytes.collect() }
                guard case .unavailable(let failure) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.cause as? S3NoAnswer == .silent)
                #expect(start.duration(to: .now) < Self.promise)
            }
        }
    }

    @Test("A reader slower than the allowed silence gets the whole object")
    func slowReader() async throws {
        let body = String(repeating: "0123456789abcdef", count: 256 * 1_024)
        try await ScriptedServer.with([.send(.answer("200 OK", body: body))]) { server in
            try await Self.withClient(endpoint: server.endpoint) { client in
                var read = ByteBuffer()
                var isFirst = true
                for try await var chunk in try await client.get(key: "a").bytes {
                    read.writeBuffer(&chunk)
                    if isFirst { try await Task.sleep(for: .milliseconds(6_500)) }
                    isFirst = false
                }
                #expect(String(buffer: read) == body)
            }
        }
    }

    @Test("An unused connection is closed before S3 would close it")
    func idleConnection() async throws {
        try await ScriptedServer.with([.send(.stored)]) { server in
            try await Self.withClient(endpoint: server.endpoint) { client in
                try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                try await Task.sleep(for: .milliseconds(1_500))
                #expect(server.connectionsLeft == 0)
                try await poll("the connection is closed", within: .milliseconds(3_500)) { server.connectionsLeft == 1 }
            }
        }
    }

    @Test("A store that restarts, refuses connections or is halted fails puts in time, and serves again after")
    func outages() async throws {
        try await RcloneServer.withServer { server in
            let keys = (server.accessKeyID, server.secretAccessKey)
            try await withS3Client(
                endpoint: server.endpoint,
                keys: keys,
                deadlines: S3Deadlines(),
                retries: S3RetryPolicy()
            ) { client in
                func works() async throws {
                    try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                }
                try await works()
                try await server.restart()
                try await works()
                for length in [1, 20_000_000] {
                    server.kill()
                    let refused = try await Self.put(.streamed(length), to: client)
                    #expect(refused.time < Self.promise)
                    try await server.restart()
                    try await works()
                    try await server.suspend()
                    let halted = try await Self.put(.streamed(length), to: client)
                    #expect(halted.time < Self.promise + .seconds(length > 1 ? 2 : 0))
                    server.resume()
                    try await works()
                }
            }
        }
    }

    @Test("Nothing listens at the address: unavailable in time")
    func unroutable() async throws {
        // TEST-NET-1 (RFC 5737): whatever the machine's network does with it, nobody answers.
        try await Self.withClient(endpoint: "http://192.0.2.1:9000") { client in
            let (_, time) = try await Self.put(S3Body("x"), to: client)
            #expect(time < Self.promise)
        }
    }
}
