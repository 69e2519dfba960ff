import ConnectionTestSupport
import Foundation
import NIOCore
import S3TestSupport
import Testing

@testable import S3

/// What a client puts right from a store's refusals, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct CorrectedCallTests {
    @Test(
        "The right region is learned from a refusal, signed for at once and from then on",
        arguments: [
            String.answer(
                "301 Moved Permanently",
                ["x-amz-bucket-region": "eu-west-1", "Location": "http://127.0.0.1:1/"]
            ),
            .answer("307 Temporary Redirect", ["x-amz-bucket-region": "eu-west-1", "Location": "http://127.0.0.1:1/"]),
            .answer(
                "400 Bad Request",
                body: "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"
            ),
        ]
    )
    func region(refusal: String) async throws {
        try await ScriptedServer.with([.send(refusal), .send(.stored), .send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                for key in ["a", "b"] {
                    try await client.put(key: key, body: S3Body("hello"), contentType: "text/plain")
                }
                #expect(client.configuration.region == "eu-west-1")
                let url = try await client.presignedGet(key: "a", expires: 60, at: .now).url
                #expect(url.contains("%2Feu-west-1%2Fs3%2F"))
            }
            #expect(server.received.map(\.region) == ["us-east-1", "eu-west-1", "eu-west-1"])
            #expect(server.received.map { String(buffer: $0.body) } == ["hello", "hello", "hello"])
        }
    }

    @Test("A bare 400 to HEAD is asked about by a request whose answer has a document")
    func bareHead() async throws {
        let malformed = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"
        let empty = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
        let replies: [ScriptedServer.Reply] = [
            .send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
            .send(.answer("400 Bad Request", body: malformed)), .send(.answer("200 OK", body: empty)),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"),
        ]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let info = try await client.head(key: "a")
                #expect(info?.contentLength == 7)
            }
            #expect(server.received.map { $0.line.prefix(4) } == ["HEAD", "GET ", "GET ", "HEAD"])
            #expect(server.received.map(\.region) == ["us-east-1", "us-east-1", "eu-west-1", "eu-west-1"])
        }
    }

    @Test("A redirect that leads in a circle is an error, not a loop")
    func circle() async throws {
        let there = String.answer("301 Moved Permanently", ["x-amz-bucket-region": "eu-west-1"])
        let back = String.answer("301 Moved Permanently", ["x-amz-bucket-region": "us-east-1"])
        try await ScriptedServer.with([.send(there), .send(back), .send(there), .send(back)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.deleteOne(ObjectDeletion(key: "a"))
                }
                guard case .refused = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            #expect(server.received.count == 2)
        }
    }

    @Test("A clock that is an hour slow is corrected once, however many requests find it so")
    func clock() async throws {
        let storeTime = Date(timeIntervalSince1970: 1_369_353_600)
        let refusal = String.answer(
            "403 Forbidden",
            ["Date": "Fri, 24 May 2013 00:00:00 GMT"],
            body: "<Error><Code>RequestTimeTooSkewed</Code></Error>"
        )
        let count = 20
        let reply = ScriptedServer.Reply.answer { request in
            let isRight = request.headers["x-amz-date"] == "20130524T000000Z"
            return isRight ? .stored.replacing(ScriptedServer.md5, with: S3Body("x").md5Hex) : refusal
        }
        try await ScriptedServer.with(Array(repeating: reply, count: 2 * count + 1)) { server in
            try await withS3Client(endpoint: server.endpoint, now: { storeTime - 3_600 }) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        group.addTask {
                            try await client.put(key: "\(number)", body: S3Body("x"), contentType: "text/plain")
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(client.clockOffset == 3_600)
                try await client.put(key: "after", body: S3Body("x"), contentType: "text/plain")
            }
            let dates = server.received.map { $0.headers["x-amz-date"] }
            #expect(Set(dates) == ["20130523T230000Z", "20130524T000000Z"])
            #expect(dates.count { $0 == "20130524T000000Z" } == count + 1)
        }
    }

    @Test("A clock that the store keeps refusing is an error")
    func clockForEver() async throws {
        let refusal = ScriptedServer.Reply.send(
            .answer("403 Forbidden", body: "<Error><Code>RequestTimeTooSkewed</Code></Error>")
        )
        try await ScriptedServer.with([refusal, refusal]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.deleteOne(ObjectDeletion(key: "a"))
                }
                guard case .refused(let failure) = error, failure.code == "RequestTimeTooSkewed" else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            #expect(server.received.count == 1, "without a date there is nothing to correct by")
        }
    }
}

extension ScriptedServer.Request {
    /// The region that the request was signed for.
    var region: String? {
        headers["authorization"]?.split(separator: "/").dropFirst(2).first.map(String.init)
    }
}
