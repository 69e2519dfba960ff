import ConnectionTestSupport
import NIOCore
import S3TestSupport
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@testable import S3

/// That no call waits longer than promised, and none is cut off that still moves.
///
/// The time is the test's own; real waits are among the tests that need time.
@Suite(.timeLimit(.minutes(2)))
struct DeadlineTests {
    /// So many bytes are asked for at a time.
    private static let piece = 256 * 1_024

    private static func withClient(
        of server: ScriptedServer,
        _ time: ManualTime,
        deadlines: S3Deadlines = S3Deadlines(),
        retries: S3RetryPolicy = .immediate,
        _ body: (S3Client) async throws -> Void
    ) async throws {
        try await withS3Client(
            endpoint: server.endpoint,
            deadlines: deadlines,
            retries: retries,
            clock: time,
            perform: body
        )
    }

    private static func put(_ body: S3Body, to client: S3Client) async -> S3NoAnswer? {
        let error = await failure { () async throws(S3Error) in
            try await client.put(key: "a", body: body, contentType: "text/plain")
        }
        guard case .unavailable(let failure) = error else {
            Issue.record("\(String(describing: error))")
            return nil
        }
        return failure.cause as? S3NoAnswer
    }

    /// Deletes an object: a request without a body, whose sending is no sign of life after the time was moved.
    private static func delete(of client: S3Client) async -> S3NoAnswer? {
        let error = await failure { () async throws(S3Error) in try await client.deleteOne(ObjectDeletion(key: "a")) }
        return error?.failure?.cause as? S3NoAnswer
    }

    @Test("A silent store fails a call after four seconds, without another try")
    func silentStore() async throws {
        try await ScriptedServer.with([.hang, .hang]) { server in
            let time = ManualTime()
            try await Self.withClient(of: server, time) { client in
                async let cause = Self.delete(of: client)
                try await poll("the request came") { server.received.count == 1 }
                try await time.ring(.seconds(4))
                let noAnswer = await cause
                #expect(noAnswer == .silent)
            }
            #expect(server.received.count == 1)
            #expect(time.elapsed == .seconds(4))
        }
    }

    @Test("A silent store fails a put, too, counted from when it took the body")
    func silentAfterBody() async throws {
        try await ScriptedServer.with([.hang, .hang]) { server in
            let time = ManualTime()
            try await Self.withClient(of: server, time) { client in
                let cause = try await whilePassing {
                    if !server.received.isEmpty { time.ringFirst() }
                } _: {
                    await Self.put(S3Body("hello"), to: client)
                }
                #expect(cause == .silent)
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("Keys that are waited for leave a silent store less time, so that both keep to the promise")
    func silenceAfterKeys() async throws {
        let time = ManualTime()
        let keys = ScriptedServer.Reply.answer { _ in
            time.move(to: .milliseconds(1_500))
            return .credentials("1", expiration: credentialEpoch)
        }
        try await ScriptedServer.with([keys]) { source in
            try await ScriptedServer.with([.hang, .hang]) { server in
                try await withS3Client(
                    endpoint: server.endpoint,
                    source: .container(try ContainerCredentials(fullURI: source.endpoint + "/")),
                    deadlines: S3Deadlines(),
                    clock: time
                ) { client in
                    async let cause = Self.delete(of: client)
                    try await poll("the request came") { server.received.count == 1 }
                    // Not four seconds after the keys came.
                    try await time.ring(.milliseconds(4_400))
                    let noAnswer = await cause
                    #expect(noAnswer == .silent)
                }
            }
        }
    }

    @Test("A put that times out while its source is read fails as silent, not as a failed source")
    func silentSource() async throws {
        try await ScriptedServer.with([.send(.stored)]) { server in
            let time = ManualTime()
            let reads = Mutex(0)
            let body = S3Body.streamed(100_000) {
                reads.withLock { $0 += 1 }
                try await time.sleep(for: .seconds(3_600))
            }
            try await Self.withClient(of: server, time) { client in
                async let cause = Self.put(body, to: client)
                try await poll("it is read") { reads.withLock { $0 } == 1 }
                try await time.awaitAlarm(at: .seconds(3_600))
                try await time.ring(.seconds(4))
                let noAnswer = await cause
                #expect(noAnswer == .silent)
            }
        }
    }

    @Test("A store that stops taking a body larger than the sockets' buffers fails the put, too")
    func silentInBody() async throws {
        var deadlines = S3Deadlines()
        deadlines.put = .seconds(24 * 3600)
        try await ScriptedServer.with([.hang, .hang]) { server in
            let time = ManualTime()
            try await Self.withClient(of: server, time, deadlines: deadlines) { client in
                // The system still takes some of it, and each piece is a sign of life.
                let cause = try await whilePassing {
                    if !server.received.isEmpty { time.ringFirst() }
                } _: {
                    await Self.put(.streamed(20_000_000), to: client)
                }
                #expect(cause == .silent)
            }
            #expect(server.received.count == 1)
        }
    }

    @Test(
        "A later attempt that meets silence has only what the first left over",
        arguments: [ScriptedServer.Reply.send(.failure("503 Slow Down", code: "SlowDown")), .close]
    )
    func silenceAfterRetry(first: ScriptedServer.Reply) async throws {
        try await ScriptedServer.with([first, .hang, .hang]) { server in
            let time = ManualTime()
            let retries = S3RetryPolicy(random: { $0.upperBound })
            try await Self.withClient(of: server, time, retries: retries) { client in
                async let cause = Self.delete(of: client)
                try await time.awaitAlarm(at: .milliseconds(100))
                time.move(to: .seconds(1))
                try await poll("the second request came") { server.received.count == 2 }
                try await time.ring(.milliseconds(4_400))
                let noAnswer = await cause
                #expect(noAnswer == .silent)
            }
            #expect(server.received.count == 2)
        }
    }

    @Test("An upload that takes longer than the allowed silence goes through while it moves")
    func slowUpload() async throws {
        try await ScriptedServer.with([.send(.stored)]) { server in
            let time = ManualTime()
            let body = S3Body.streamed(6 * Self.piece) { try await time.sleep(for: .seconds(3)) }
            try await Self.withClient(of: server, time) { client in
                async let put = client.put(key: "a", body: body, contentType: "image/jpeg")
                for number in 1...6 { try await time.ring(.seconds(3 * number)) }
                _ = try await put
            }
            #expect(server.received.map(\.body.readableBytes) == [6 * Self.piece])
        }
    }

    @Test("A put that moves for longer than 20 seconds ends there")
    func overdueUpload() async throws {
        try await ScriptedServer.with([.send(.stored), .send(.stored)]) { server in
            let time = ManualTime()
            let body = S3Body.streamed(9 * Self.piece) { try await time.sleep(for: .seconds(3)) }
            try await Self.withClient(of: server, time) { client in
                async let cause = Self.put(body, to: client)
                for number in 1...6 { try await time.ring(.seconds(3 * number)) }
                // The last piece is on its way, and whoever watches is to notice.
                try await time.awaitAlarm(at: .seconds(21))
                time.move(to: .seconds(19))
                try await time.ring(.seconds(20))
                let noAnswer = await cause
                #expect(noAnswer == .overdue)
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A call that puts nothing ends after five seconds, however often it is answered")
    func overdueCall() async throws {
        let time = ManualTime()
        let broken = ScriptedServer.Reply.answer { _ in
            time.move(to: time.elapsed + .milliseconds(2_600))
            return .failure("503 Slow Down", code: "SlowDown")
        }
        try await ScriptedServer.with([broken, broken, broken]) { server in
            try await Self.withClient(of: server, time) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.deleteOne(ObjectDeletion(key: "a"))
                }
                guard case .unavailable = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            #expect(server.received.count == 2)
        }
    }

    @Test("A put whose object is read back from a store that drips ends in time, too")
    func drippingReadBack() async throws {
        let replies: [ScriptedServer.Reply] = [
            .send(.answer("200 OK", ["ETag": "\"opaque\""])),
            .drip("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", then: "x", pause: .milliseconds(5)),
        ]
        var deadlines = S3Deadlines.patient
        deadlines.put = .seconds(20)
        try await ScriptedServer.with(replies) { server in
            let time = ManualTime()
            try await Self.withClient(of: server, time, deadlines: deadlines) { client in
                async let cause = Self.put(.streamed(1_000), to: client)
                try await poll("it is read back") { server.received.count == 2 }
                time.move(to: .seconds(20))
                let noAnswer = await cause
                #expect(noAnswer == .overdue)
            }
        }
    }

    @Test("A cancelled task ends without any deadline's help")
    func cancellation() async throws {
        try await ScriptedServer.with([.hang]) { server in
            let time = ManualTime()
            try await Self.withClient(of: server, time) { client in
                let put = Task { () async -> S3Error? in
                    await failure { () async throws(S3Error) in
                        try await client.put(key: "a", body: .streamed(20_000_000), contentType: "image/jpeg")
                    }
                }
                try await poll("the request came") { server.received.count == 1 }
                put.cancel()
                guard case .cancelled = await put.value else {
                    Issue.record("not cancelled")
                    return
                }
            }
            #expect(time.elapsed == .zero)
        }
    }

    @Test("Bytes that stop coming end a download")
    func silentDownload() async throws {
        var deadlines = S3Deadlines()
        deadlines.silence = .milliseconds(20)
        let half = ScriptedServer.Reply.sendAndHang("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        try await ScriptedServer.with([half, half, half]) { server in
            try await Self.withClient(of: server, ManualTime(), deadlines: deadlines) { client in
                let error = await failure { () async throws(S3Error) in
                    _ = try await client.get(key: "a").bytes.collect()
                }
                guard case .unavailable(let failure) = error, failure.cause as? S3NoAnswer == .silent else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test("Bytes that end early end a download with an error")
    func brokenDownload() async throws {
        let half = ScriptedServer.Reply.sendAndClose("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        try await ScriptedServer.with([half]) { server in
            try await Self.withClient(of: server, ManualTime()) { client in
                let object = try await client.get(key: "a")
                let error = await failure { () async throws(S3Error) in _ = try await object.bytes.collect() }
                guard case .unavailable = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }
}
