import ConnectionTestSupport
import Foundation
import NIOCore
import S3TestSupport
import Synchronization
import TestSupport
import Testing

@testable import S3

/// What is tried again, how often, and that each try is whole.
@Suite(.timeLimit(.minutes(1)))
struct S3RetryTests {
    @Test("After SlowDown the body is sent again, signed anew, after growing pauses")
    func slowDownTwice() async throws {
        let slowDown = ScriptedServer.Reply.send(.failure("503 Slow Down", code: "SlowDown"))
        try await ScriptedServer.with([slowDown, slowDown, .send(.stored)]) { server in
            let time = ManualTime()
            let date = Mutex(Date(timeIntervalSince1970: 1_369_353_600))
            let retries = S3RetryPolicy(random: { $0.upperBound })
            let now = { @Sendable in
                date.withLock { date in
                    defer { date += 1 }
                    return date
                }
            }
            try await withS3Client(endpoint: server.endpoint, retries: retries, clock: time, now: now) { client in
                async let put = client.put(key: "a", body: .streamed(200_000), contentType: "image/jpeg")
                for pauses in [100, 300] { try await time.ring(.milliseconds(pauses)) }
                _ = try await put
            }

            let requests = server.received
            #expect(requests.map { $0.headers["x-amz-date"] } == Self.threeDates)
            #expect(Set(requests.map { $0.headers["authorization"] }).count == 3)
            #expect(Set(requests.map(\.body)).count == 1)
            #expect(requests.first?.body.readableBytes == 200_000)
        }
    }

    @Test("SlowDown after a body that took longer than the window is followed by another try")
    func slowDownAfterLongBody() async throws {
        let time = ManualTime()
        let slowDown = String.failure("503 Slow Down", code: "SlowDown")
        try await ScriptedServer.with([.send(slowDown), .send(.stored)]) { server in
            let body = S3Body.streamed(5 * 256 * 1_024) { try await time.sleep(for: .milliseconds(1_100)) }
            try await withS3Client(endpoint: server.endpoint, deadlines: S3Deadlines(), clock: time) { client in
                async let put = client.put(key: "a", body: body, contentType: "image/jpeg")
                // Twice five pieces, longer each than the three seconds in which a call is tried again.
                for piece in 1...10 { try await time.ring(.milliseconds(1_100) * piece) }
                _ = try await put
            }
            #expect(server.received.map(\.body.readableBytes) == [5 * 256 * 1_024, 5 * 256 * 1_024])
        }
    }

    static let threeDates = ["20130524T000000Z", "20130524T000001Z", "20130524T000002Z"]

    @Test("The third failure is final")
    func threeTriesAtMost() async throws {
        let broken = ScriptedServer.Reply.send(.failure("500 Internal Server Error", code: "InternalError"))
        try await ScriptedServer.with([broken, broken, broken, .send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure(of: { () async throws(S3Error) in
                    try await client.deleteOne(ObjectDeletion(key: "a"))
                })
                guard case .unavailable(let failure) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.status == 500)
                #expect(failure.code == "InternalError")
            }
            #expect(server.received.count == 3)
        }
    }

    @Test("A connection closed without an answer is tried again")
    func closedConnection() async throws {
        try await ScriptedServer.with([.close, .send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                try await client.put(key: "a", body: S3Body("hello"), contentType: "text/plain")
            }
            #expect(server.received.map { String(buffer: $0.body) }.last == "hello")
        }
    }

    @Test(
        "An answer that says no is not asked for again",
        arguments: ["304 Not Modified", "400 Bad Request", "403 Forbidden", "412 Precondition Failed"]
    )
    func refusals(status: String) async throws {
        try await ScriptedServer.with([.send(.failure(status, code: "No")), .send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                }
                guard case .refused(let failure) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.status == Int(status.prefix(3)))
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A status counts even when its explanation breaks off")
    func brokenErrorDocument() async throws {
        let text = "HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\n<Error><Code>"
        try await ScriptedServer.with([.sendAndClose(text)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.deleteOne(ObjectDeletion(key: "a"))
                }
                guard case .refused(let failure) = error, failure.status == 403 else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test("A missing bucket is made once, even when the answer cuts off a large body")
    func missingBucket() async throws {
        let replies: [ScriptedServer.Reply] = [
            .sendEarly(.failure("404 Not Found", code: "NoSuchBucket")),
            .send(.stored),
            .send(.stored),
        ]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint, region: "eu-west-1") { client in
                try await client.put(key: "a", body: .streamed(3_000_000), contentType: "image/jpeg")
            }
            #expect(server.received.map(\.target) == ["/photos/a", "/photos", "/photos/a"])
            #expect(server.received.last?.body.readableBytes == 3_000_000)
            let creation = String(buffer: server.received[1].body)
            #expect(creation.contains("<LocationConstraint>eu-west-1</LocationConstraint>"))
        }
    }

    @Test("A bucket that stays missing is an error, not a loop")
    func bucketStaysMissing() async throws {
        let missing = ScriptedServer.Reply.send(.failure("404 Not Found", code: "NoSuchBucket"))
        try await ScriptedServer.with([missing, .send(.stored), missing, missing]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                }
                #expect(error?.isMissingBucket == true)
            }
            #expect(server.received.count == 3)
        }
    }

    @Test("A bucket that is missing at a deletion is an error, since it may be there again", arguments: [1, 2])
    func deletionWithoutBucket(count: Int) async throws {
        let missing = ScriptedServer.Reply.send(.failure("404 Not Found", code: "NoSuchBucket"))
        try await ScriptedServer.with([missing]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    _ = try await client.delete(keys: ["a", "b"].dropLast(2 - count))
                }
                #expect(error?.isMissingBucket == true)
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A source that fails is that failure, and is not tried again")
    func failingSource() async throws {
        struct DiskFailed: Error {}
        try await ScriptedServer.with([.send(.stored)]) { server in
            let body = S3Body(length: 500_000, sha256Hex: UnsignedRequest.emptyPayloadHash, md5Hex: "") { range in
                guard range.lowerBound == 0 else { throw DiskFailed() }
                return ByteBuffer(repeating: 0, count: range.count)
            }
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: body, contentType: "text/plain")
                }
                guard case .source(is DiskFailed) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test("A source that gives fewer or more bytes than asked for is its own failure", arguments: [99, 101])
    func wrongLength(given: Int) async throws {
        try await ScriptedServer.with([.send(.stored)]) { server in
            let body = S3Body(length: 100, sha256Hex: UnsignedRequest.emptyPayloadHash, md5Hex: "") { _ in
                ByteBuffer(repeating: 0, count: given)
            }
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: body, contentType: "text/plain")
                }
                guard case .source = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test("Pauses grow to their cap, end with the tries, and never reach past the window")
    func policy() {
        let policy = S3RetryPolicy(random: { $0.upperBound })
        let lazy = S3RetryPolicy(random: { $0.lowerBound })
        let window = Duration.seconds(3)
        let error = S3Error.unavailable(S3Failure(cause: S3NoAnswer.silent))
        #expect(policy.pause(after: error, attempts: 1, elapsed: .zero, window: window) == .milliseconds(100))
        #expect(policy.pause(after: error, attempts: 2, elapsed: .zero, window: window) == .milliseconds(200))
        #expect(policy.pause(after: error, attempts: 3, elapsed: .zero, window: window) == nil)
        #expect(lazy.pause(after: error, attempts: 1, elapsed: window, window: window) == .zero)
        #expect(lazy.pause(after: error, attempts: 1, elapsed: window + .nanoseconds(1), window: window) == nil)
        #expect(policy.pause(after: .cancelled, attempts: 1, elapsed: .zero, window: window) == nil)
    }
}
