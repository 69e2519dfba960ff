import ConnectionTestSupport
import NIOCore
import S3TestSupport
import Testing

@testable import S3

/// How a bucket is made.
@Suite("A missing bucket", .timeLimit(.minutes(1)))
struct MissingBucketTests {
    private static let refusal = String.failure("400 Bad Request", code: "InvalidLocationConstraint")

    @Test("A store that does not know the region makes the bucket without it")
    func unknownRegion() async throws {
        let replies: [String] = [
            .failure("404 Not Found", code: "NoSuchBucket"), Self.refusal, .answer("200 OK"), .stored,
        ]
        try await ScriptedServer.with(replies.map { .send($0) }) { server in
            try await withS3Client(endpoint: server.endpoint, region: "eu-west-9") { client in
                try await client.put(key: "a", body: S3Body("hello"), contentType: "text/plain")
            }
            #expect(server.received.map(\.target) == ["/photos/a", "/photos", "/photos", "/photos/a"])
            let bodies = server.received.map { String(buffer: $0.body) }
            #expect(bodies[1].contains("<LocationConstraint>eu-west-9</LocationConstraint>"))
            #expect(bodies[2].isEmpty)
        }
    }

    @Test("A store that refuses both, or refuses for another reason, is asked no more", arguments: [true, false])
    func refused(isTwice: Bool) async throws {
        let other = String.failure("403 Forbidden", code: "AccessDenied")
        let replies = isTwice ? [Self.refusal, Self.refusal] : [other]
        try await ScriptedServer.with(replies.map { .send($0) }) { server in
            try await withS3Client(endpoint: server.endpoint, region: "eu-west-9") { client in
                let error = await failure { () async throws(S3Error) in try await client.createBucket() }
                guard case .refused(let failure) = error else {
                    Issue.record("no refusal")
                    return
                }
                #expect(failure.code == (isTwice ? "InvalidLocationConstraint" : "AccessDenied"))
            }
            #expect(server.received.count == replies.count)
        }
    }

    @Test(
        "At AWS a region is never left out: the bucket would be made in another",
        arguments: [
            (nil, "InvalidLocationConstraint", false), ("https://s3.amazonaws.com", "InvalidLocationConstraint", false),
            ("https://s3.example.org", "InvalidLocationConstraint", true),
            ("https://s3.example.org", "AccessDenied", false),
        ]
    )
    func aws(endpoint: String?, code: String, mayLeaveOut: Bool) throws {
        let configuration = try S3Configuration(bucket: "photos", region: "eu-west-9", endpoint: endpoint)
        let failure = S3Failure(code: code, message: nil)
        #expect(S3Client.mayLeaveOutRegion(after: failure, at: configuration) == mayLeaveOut)
    }
}
