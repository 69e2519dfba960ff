import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import NIOHTTP1
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@Suite("Transfers", .timeLimit(.minutes(2)))
struct CurlClientTests {
    private static let megabyte = String(repeating: "x", count: 1 << 20)

    @Test("A body of any size arrives whole, however it is framed")
    func bodies() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"
        let replies: [ScriptedServer.Reply] = [
            .send(.answer("200 OK", body: Self.megabyte)), .send(chunked),
            .sendAndClose("HTTP/1.1 200 OK\r\n\r\nto the end"), .send(.answer("204 No Content")),
        ]
        try await ScriptedServer.with(replies) { server in
            let client = CurlClient()
            for text in [Self.megabyte, "hello", "to the end", ""] {
                let answer = try await client.send(.GET, server.endpoint)
                #expect(answer.text == text)
            }
        }
    }

    @Test("A redirect is an answer, and is not followed")
    func redirect() async throws {
        let replies = [ScriptedServer.Reply.send(.answer("302 Found", ["Location": "/b"])), .send(.answer("200 OK"))]
        try await ScriptedServer.with(replies) { server in
            let answer = try await CurlClient().send(.GET, server.endpoint)
            #expect(answer.status == 302)
            #expect(server.received.count == 1)
        }
    }

    @Test("A compressed body comes as it is")
    func compressed() async throws {
        try await ScriptedServer.with([.send(.answer("200 OK", ["Content-Encoding": "gzip"], body: "no gzip"))]) {
            server in
            let answer = try await CurlClient().send(.GET, server.endpoint)
            #expect(answer.text == "no gzip")
        }
    }

    @Test("A connection is used again, and ends with its client")
    func reuse() async throws {
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: .send(.answer("200 OK")), count: 3)) { server in
            do {
                let client = CurlClient()
                for _ in 0..<3 { _ = try await client.send(.GET, server.endpoint) }
            }
            #expect(Set(server.received.map(\.connection)).count == 1)
            try await poll("it is closed") { server.connectionsLeft == 1 }
        }
    }

    @Test("A connection that is not used is closed, and the next request has another")
    func idle() async throws {
        try await ScriptedServer.with([.send(.answer("200 OK")), .send(.answer("200 OK"))]) { server in
            var configuration = CurlConfiguration()
            configuration.idle = .milliseconds(20)
            let client = CurlClient(configuration)
            for number in 1...2 {
                _ = try await client.send(.GET, server.endpoint)
                try await poll("it is closed") { server.connectionsLeft == number }
            }
        }
    }

    @Test("A host gets so many connections, others wait, and who waits too long is told so")
    func line() async throws {
        // More than the sockets' buffers hold, so it is under way until it is read.
        let slow = ScriptedServer.Reply.send(.answer("200 OK", body: String(repeating: Self.megabyte, count: 16)))
        try await ScriptedServer.with([slow, .send(.answer("200 OK", body: "b")), .send(.answer("200 OK"))]) { server in
            var configuration = CurlConfiguration()
            configuration.maxConnectionsPerHost = 1
            let client = CurlClient(configuration)
            var impatient = CurlDeadlines.patient
            impatient.connect = .milliseconds(50)
            let deadlines = impatient
            try await client.perform(CurlRequest(url: server.endpoint), deadlines: .patient) { response in
                let reason = await reason { _ = try await client.send(.GET, server.endpoint, deadlines: deadlines) }
                #expect(reason?.isSame(as: .timedOut(.waiting)) == true)
                async let second = client.send(.GET, server.endpoint)
                try await Task.sleep(for: .milliseconds(50))
                #expect(server.received.count == 1)
                // A request to another host does not wait.
                try await ScriptedServer.with([.send(.answer("200 OK"))]) { other in
                    _ = try await client.send(.GET, other.endpoint)
                }
                _ = try await response.body.collect(upTo: 1 << 24)
                let answer = try await second
                #expect(answer.text == "b")
            }
        }
    }

    @Test("A reader that takes nothing stops the peer, is never silent, and gets all in the end")
    func backpressure() async throws {
        let count = 64
        let piece = String(repeating: "x", count: 1 << 18)
        let reply = ScriptedServer.Reply.drip(
            "HTTP/1.1 200 OK\r\nContent-Length: \(count << 18)\r\n\r\n",
            then: piece,
            pause: .zero
        )
        try await ScriptedServer.with([reply]) { server in
            var deadlines = CurlDeadlines.patient
            deadlines.silenceInBody = .seconds(2)
            let body = try await CurlClient().perform(CurlRequest(url: server.endpoint), deadlines: deadlines) {
                $0.body
            }
            try await Task.sleep(for: .seconds(3))
            var total = 0
            for try await bytes in body {
                total += bytes.readableBytes
                #expect(bytes.readableBytes <= 256 * 1_024)
            }
            #expect(total == count << 18)
        }
    }

    @Test("A body that nobody reads any more ends its connection")
    func dropped() async throws {
        let endless = ScriptedServer.Reply.drip("HTTP/1.1 200 OK\r\n\r\n", then: "x", pause: .milliseconds(1))
        try await ScriptedServer.with([endless]) { server in
            let client = CurlClient()
            do {
                let body = try await client.perform(CurlRequest(url: server.endpoint), deadlines: .patient) { $0.body }
                for try await _ in body { break }
            }
            try await poll("no transfer is left") { await client.transferCount == 0 }
        }
    }

    @Test(
        "A task that is cancelled while it reads a body ends the transfer, also when nothing more is wanted of the peer"
    )
    func cancelledReader() async throws {
        let reply = ScriptedServer.Reply.send(.answer("200 OK", body: String(repeating: Self.megabyte, count: 16)))
        try await ScriptedServer.with([reply]) { server in
            let client = CurlClient()
            let task = Task {
                let body = try await client.perform(CurlRequest(url: server.endpoint), deadlines: .patient) { $0.body }
                // The peer is paused when so much waits.
                try? await Task.sleep(for: .seconds(100))
                for try await _ in body {}
            }
            try await poll("it is under way") { server.received.count == 1 }
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            try await poll("no transfer is left") { await client.transferCount == 0 }
        }
    }

    @Test("Many uploads that are cancelled at any moment end, and leave nothing")
    func cancelledUploads() async throws {
        let count = 200
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: .send(.answer("200 OK")), count: count)) {
            server in
            let client = CurlClient()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let pieces = AsyncStream<ByteBuffer> {
                            await Task.yield()
                            return ByteBuffer(repeating: 0x61, count: 1_000)
                        }
                        let task = Task {
                            try await client.send(.PUT, server.endpoint, body: .stream(length: 200_000, pieces))
                        }
                        try? await Task.sleep(for: .microseconds(number * 100))
                        task.cancel()
                        _ = await task.result
                    }
                }
            }
            try await poll("no transfer is left") { await client.transferCount == 0 }
        }
    }

    @Test("A refused upload whose source is slow does not wait for the source")
    func refusedSlowSource() async throws {
        let pieces = AsyncStream<ByteBuffer> {
            try? await Task.sleep(for: .seconds(100))
            return ByteBuffer(repeating: 0x61, count: 1_000)
        }
        try await ScriptedServer.with([.sendEarly(.answer("403 Forbidden", body: "no"))]) { server in
            let answer = try await CurlClient().send(.PUT, server.endpoint, body: .stream(length: 1 << 20, pieces))
            #expect(answer.status == 403 && answer.text == "no")
        }
    }

    @Test("A body in memory is sent again when a connection that was used before turns out to be dead")
    func deadConnection() async throws {
        let replies: [ScriptedServer.Reply] = [.sendAndClose(.answer("200 OK")), .send(.answer("200 OK"))]
        try await ScriptedServer.with(replies) { server in
            let client = CurlClient()
            for _ in 0..<2 {
                let answer = try await client.send(.PUT, server.endpoint, body: .bytes(ByteBuffer(string: "hello")))
                #expect(answer.status == 200)
            }
            #expect(server.received.map(\.body) == [ByteBuffer(string: "hello"), ByteBuffer(string: "hello")])
        }
    }

    @Test("A refusal that comes before the body was sent is read, and the rest is not sent")
    func earlyRefusal() async throws {
        let (length, piece) = (50_000_000, 250_000)
        let read = Mutex(0)
        let pieces = AsyncStream<ByteBuffer> {
            read.withLock { $0 += piece }
            return ByteBuffer(repeating: 0x61, count: piece)
        }
        let refusal = ScriptedServer.Reply.sendEarly(.answer("403 Forbidden", body: "no"))
        try await ScriptedServer.with([refusal]) { server in
            let answer = try await CurlClient().send(.PUT, server.endpoint, body: .stream(length: length, pieces))
            #expect(answer.status == 403 && answer.text == "no")
        }
        #expect(read.withLock { $0 } < length)
    }

    @Test("A cancelled task ends at once, and its connection with it", arguments: ["connecting", "waiting", "reading"])
    func cancellation(stage: String) async throws {
        let half = ScriptedServer.Reply.sendAndHang("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        let silent = try SilentServer()
        try await ScriptedServer.with([stage == "waiting" ? .hang : half]) { server in
            let client = CurlClient()
            let url = stage == "connecting" ? "https://127.0.0.1:\(silent.port)" : server.endpoint
            let task = Task { await reason { _ = try await client.send(.GET, url) } }
            try await poll("it is under way") {
                stage == "connecting" ? await client.transferCount == 1 : server.received.count == 1
            }
            let start = ContinuousClock.now
            task.cancel()
            #expect(await task.value?.isSame(as: .cancelled) == true)
            #expect(start.duration(to: .now) < .seconds(2))
            try await poll("no transfer is left") { await client.transferCount == 0 }
        }
    }
}
