import ConnectionTestSupport
import Curl
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@Suite("Transfers that fail", .timeLimit(.minutes(2)))
struct CurlErrorTests {
    private static func expect(
        _ expected: CurlError,
        _ reply: ScriptedServer.Reply,
        deadlines: CurlDeadlines = .patient,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await ScriptedServer.with([reply, reply]) { server in
            let reason = await reason { _ = try await CurlClient().send(.GET, server.endpoint, deadlines: deadlines) }
            #expect(
                reason?.isSame(as: expected) == true,
                "\(String(describing: reason))",
                sourceLocation: sourceLocation
            )
        }
    }

    @Test("No such host, and nothing that listens")
    func unreachable() async throws {
        let unresolved = await reason { _ = try await CurlClient().send(.GET, "http://store.invalid/") }
        #expect(unresolved?.isSame(as: .unresolved) == true)
        let port = try SilentPort.closed()
        let refused = await reason { _ = try await CurlClient().send(.GET, "http://127.0.0.1:\(port)/") }
        #expect(refused?.isSame(as: .refused) == true)
    }

    @Test("A connection that ends before the answer, in its head, or in its body, is cut off")
    func cutOff() async throws {
        try await Self.expect(.cutOff, .close)
        try await Self.expect(.cutOff, .sendAndClose("HTTP/1.1 200 OK\r\nContent-Le"))
        try await Self.expect(.cutOff, .sendAndClose("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"))
        try await Self.expect(
            .cutOff,
            .sendAndClose("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        )
    }

    @Test("Something else than HTTP")
    func notHTTP() async throws {
        try await Self.expect(.notHTTP, .sendAndClose("SSH-2.0-OpenSSH_9.2\r\n"))
        try await Self.expect(.notHTTP, .sendAndClose("<html>"))
    }

    @Test("A head of more than 64 KiB, and a body beyond its limit, are too large")
    func tooLarge() async throws {
        let fields = Dictionary(
            uniqueKeysWithValues: (0..<70).map { ("X-\($0)", String(repeating: "x", count: 1_000)) }
        )
        try await Self.expect(.tooLarge, .send(.answer("200 OK", fields)))
        try await ScriptedServer.with([.send(.answer("200 OK", body: "hello"))]) { server in
            let reason = await reason {
                _ = try await CurlClient().answer(
                    to: CurlRequest(url: server.endpoint),
                    within: .seconds(99),
                    maxBytes: 4
                )
            }
            #expect(reason?.isSame(as: .tooLarge) == true)
        }
    }

    @Test(
        "A peer that takes the request and is silent, or stops in its body, is silent; one that never ends is overdue"
    )
    func deadlines() async throws {
        var deadlines = CurlDeadlines.patient
        deadlines.silence = .milliseconds(100)
        try await Self.expect(.silent, .hang, deadlines: deadlines)
        deadlines = .patient
        deadlines.silenceInBody = .milliseconds(100)
        let half = ScriptedServer.Reply.sendAndHang("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        try await Self.expect(.silent, half, deadlines: deadlines)
        let drip = ScriptedServer.Reply.drip("HTTP/1.1 200 OK\r\n\r\n", then: "x", pause: .milliseconds(5))
        deadlines = .patient
        deadlines.end = .now + .milliseconds(300)
        try await Self.expect(.overdue, drip, deadlines: deadlines)
    }

    /// Shorter than the transfers below, and long enough for a busy machine.
    private static var silentAfterEightSeconds: CurlDeadlines {
        var deadlines = CurlDeadlines.patient
        (deadlines.silence, deadlines.silenceInBody) = (.seconds(8), .seconds(8))
        return deadlines
    }

    @Test("A peer that reads slowly is not silent")
    func slowReader() async throws {
        let slowReader = ScriptedServer.Reply.readSlowly(pause: .milliseconds(100), then: .answer("200 OK"))
        try await ScriptedServer.with([slowReader]) { server in
            // The system takes it at once. The peer reads a piece of 64 KiB at a time, for ten seconds.
            let body = RequestBody.bytes(ByteBuffer(repeating: 0x61, count: 100 * 64 << 10))
            let deadlines = Self.silentAfterEightSeconds
            let answer = try await CurlClient().send(.PUT, server.endpoint, body: body, deadlines: deadlines)
            #expect(answer.status == 200)
        }
    }

    @Test("A peer that writes slowly is not silent")
    func slowWriter() async throws {
        let drip = ScriptedServer.Reply.drip(
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
            then: "x",
            pause: .milliseconds(100)
        )
        try await ScriptedServer.with([drip]) { server in
            let answer = try await CurlClient().send(.GET, server.endpoint, deadlines: Self.silentAfterEightSeconds)
            #expect(answer.text.count == 100)
        }
    }

    @Test("A connection that is not made in time says at which step it is")
    func connecting() async throws {
        let silent = try SilentServer()
        var deadlines = CurlDeadlines.patient
        deadlines.connect = .milliseconds(200)
        let short = deadlines
        let reason = await reason {
            _ = try await CurlClient().send(.GET, "https://127.0.0.1:\(silent.port)/", deadlines: short)
        }
        #expect(reason?.isSame(as: .timedOut(.handshake)) == true, "\(String(describing: reason))")
    }

    @Test("The guard sees the address that is connected to, and what it refuses is not connected to")
    func guarded() async throws {
        let seen = Mutex<[String]>([])
        try await ScriptedServer.with([.send(.answer("200 OK")), .send(.answer("200 OK"))]) { server in
            var configuration = CurlConfiguration()
            configuration.isAllowed = { address in
                seen.withLock { $0.append("\(address.ipAddress ?? ""):\(address.port ?? 0)") }
                return seen.withLock { $0.count } > 1
            }
            let client = CurlClient(configuration)
            let reason = await reason { _ = try await client.send(.GET, server.endpoint) }
            #expect(reason?.isSame(as: .addressNotAllowed) == true)
            #expect(server.received.isEmpty)
            let answer = try await client.send(.GET, server.endpoint)
            #expect(answer.status == 200)
            #expect(seen.withLock { $0.map { "http://\($0)" } } == [server.endpoint, server.endpoint])
        }
    }

    @Test("No error repeats a path, a query or a header")
    func secrets() async throws {
        let port = try SilentPort.closed()
        for url in ["http://127.0.0.1:\(port)", "https://127.0.0.1:\(port)", "http://store.invalid"] {
            do {
                _ = try await CurlClient().send(.GET, url + "/s3cret?s3cret", headers: ["Authorization": "s3cret"])
                Issue.record("it succeeds")
            } catch {
                var text = "\(error) \(String(reflecting: error))"
                dump(error, to: &text)
                #expect(!text.contains("s3cret"))
            }
        }
    }
}
