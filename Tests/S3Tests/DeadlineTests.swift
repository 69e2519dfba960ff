import NIOCore
import TestSupport
import Testing

@testable import S3

/// That no call waits longer than promised, and none is cut off that still moves.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct DeadlineTests {
    /// Shorter than the real ones, in the same order.
    static let short: S3Deadlines = {
        var deadlines = S3Deadlines()
        deadlines.silence = .milliseconds(2_000)
        deadlines.giveUp = .milliseconds(2_200)
        deadlines.retryWindow = .milliseconds(1_800)
        return deadlines
    }()

    @Test(
        "A silent store fails a put in time, be the body small or larger than the sockets' buffers",
        arguments: [5, 20_000_000]
    )
    func silentStore(length: Int) async throws {
        try await ScriptedServer.with([.hang, .hang, .hang]) { server in
            try await withClient(endpoint: server.endpoint, deadlines: Self.short) { client in
                let body = S3Body.streamed(length)
                let start = ContinuousClock.now
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: body, contentType: "text/plain")
                }
                guard case .unavailable(let failure) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.cause as? S3NoAnswer == .silent)
                #expect(start.duration(to: .now) < .seconds(8))
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A later try that meets silence has only what the first left over")
    func silenceAfterRetry() async throws {
        var deadlines = S3Deadlines()
        deadlines.giveUp = .seconds(2)
        let limits = deadlines
        let slowDown = ScriptedServer.Reply.send(.failure("503 Slow Down", code: "SlowDown"))
        try await ScriptedServer.with([slowDown, .hang]) { server in
            try await withClient(endpoint: server.endpoint, deadlines: limits) { client in
                let start = ContinuousClock.now
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                }
                guard case .unavailable = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(start.duration(to: .now) < .seconds(8))
            }
            #expect(server.received.count == 2)
        }
    }

    @Test("An upload that takes longer than the allowed silence goes through while it moves")
    func slowUpload() async throws {
        // SwiftNIO reads at most 64 KiB at a time: 611 reads, and 2.4 s of pauses at the least.
        let reply = ScriptedServer.Reply.readSlowly(pause: .milliseconds(4), then: .stored)
        var deadlines = S3Deadlines()
        deadlines.silence = .milliseconds(1_500)
        deadlines.put = .seconds(50)
        let limits = deadlines
        var whole = S3UploadPolicy()
        whole.singlePutBytesMax = 40_000_000
        let uploads = whole
        try await ScriptedServer.with([reply]) { server in
            let start = ContinuousClock.now
            try await withClient(endpoint: server.endpoint, deadlines: limits, uploads: uploads) { client in
                try await client.put(key: "a", body: .streamed(40_000_000), contentType: "image/jpeg")
            }
            #expect(start.duration(to: .now) > limits.silence)
            #expect(server.received.map(\.body.readableBytes) == [40_000_000])
        }
    }

    @Test("A put that moves for longer than its whole deadline ends there")
    func overdueUpload() async throws {
        var deadlines = S3Deadlines()
        deadlines.put = .milliseconds(500)
        let limits = deadlines
        let reply = ScriptedServer.Reply.readSlowly(pause: .milliseconds(20), then: .stored)
        try await ScriptedServer.with([reply]) { server in
            try await withClient(endpoint: server.endpoint, deadlines: limits) { client in
                let body = S3Body.streamed(20_000_000)
                let start = ContinuousClock.now
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: body, contentType: "image/jpeg")
                }
                guard case .unavailable(let failure) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.cause as? S3NoAnswer == .overdue)
                #expect(start.duration(to: .now) < .seconds(6))
            }
        }
    }

    @Test("A put whose object is read back from a store that drips ends in time, too")
    func drippingReadBack() async throws {
        var deadlines = S3Deadlines()
        deadlines.put = .milliseconds(1_500)
        let limits = deadlines
        let replies: [ScriptedServer.Reply] = [
            .send(.answer("200 OK", ["ETag": "\"opaque\""])),
            .drip("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", then: "x", pause: .milliseconds(50)),
        ]
        try await ScriptedServer.with(replies) { server in
            try await withClient(endpoint: server.endpoint, deadlines: limits) { client in
                let start = ContinuousClock.now
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: .streamed(1_000), contentType: "image/jpeg")
                }
                guard case .unavailable = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(start.duration(to: .now) < .seconds(8))
            }
        }
    }

    @Test("A cancelled task ends at once")
    func cancellation() async throws {
        try await ScriptedServer.with([.hang]) { server in
            try await withClient(endpoint: server.endpoint) { client in
                let put = Task { () async -> S3Error? in
                    await failure { () async throws(S3Error) in
                        try await client.put(key: "a", body: .streamed(20_000_000), contentType: "image/jpeg")
                    }
                }
                while server.received.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
                let start = ContinuousClock.now
                put.cancel()
                guard case .cancelled = await put.value else {
                    Issue.record("not cancelled")
                    return
                }
                #expect(start.duration(to: .now) < .milliseconds(3_500))
            }
        }
    }

    @Test("Bytes that stop coming, or end early, end a download with an error", arguments: [true, false])
    func brokenDownload(hangs: Bool) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"
        try await ScriptedServer.with([hangs ? .sendAndHang(text) : .sendAndClose(text)]) { server in
            try await withClient(endpoint: server.endpoint, deadlines: Self.short) { client in
                let object = try await client.get(key: "a")
                let start = ContinuousClock.now
                let error = await failure { () async throws(S3Error) in _ = try await object.bytes.collect() }
                guard case .unavailable = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(start.duration(to: .now) < .seconds(8))
            }
        }
    }

    @Test("A reader slower than the allowed silence gets the whole object")
    func slowReader() async throws {
        let body = String(repeating: "0123456789abcdef", count: 256 * 1_024)
        try await ScriptedServer.with([.send(.answer("200 OK", body: body))]) { server in
            try await withClient(endpoint: server.endpoint, deadlines: Self.short) { client in
                var read = ByteBuffer()
                var isFirst = true
                for try await var chunk in try await client.get(key: "a").bytes {
                    read.writeBuffer(&chunk)
                    if isFirst { try await Task.sleep(for: .milliseconds(4_500)) }
                    isFirst = false
                }
                #expect(String(buffer: read) == body)
            }
        }
    }
}
