import ConnectionTestSupport
import Foundation
import S3TestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import S3

@Suite("Fetching credentials", .timeLimit(.minutes(1)))
struct CredentialFetcherTests {
    private typealias Reply = ScriptedServer.Reply
    private static let keys = Reply.send(.credentials("1", expiration: credentialEpoch))

    private static func source(_ endpoint: String) throws -> S3CredentialSource {
        .container(try ContainerCredentials(fullURI: endpoint + "/"))
    }

    @Test(
        "A passing failure is followed by another try",
        arguments: [
            [.send(.answer("500 Internal Server Error"))], [.send(.answer("429 Too Many Requests"))], [.close],
            [.send(.answer("503 Service Unavailable")), .close],
        ] as [[ScriptedServer.Reply]]
    )
    func retried(failures: [ScriptedServer.Reply]) async throws {
        try await ScriptedServer.with(failures + [Self.keys]) { server async throws in
            #expect(
                try await fetch(try Self.source(server.endpoint))
                    == .success(try .test("1", expiration: credentialEpoch))
            )
            #expect(server.received.count == failures.count + 1)
        }
    }

    @Test("The attempts are limited, and the last one's failure is thrown")
    func maxTries() async throws {
        let replies = [Reply](repeating: .send(.answer("500 Internal Server Error", body: "SESAME")), count: 9)
        try await ScriptedServer.with(replies) { server async throws in
            #expect(try await fetch(try Self.source(server.endpoint)) == .failure(.failed(.container, .status(500))))
            #expect(server.received.count == 3)
        }
    }

    @Test(
        "A refusal is final, and a redirect is one",
        arguments: [
            "400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "302 Found", "204 No Content",
        ]
    )
    func refused(status: String) async throws {
        let headers = ["Location": "http://127.0.0.1:1/elsewhere"]
        try await ScriptedServer.with([.send(.answer(status, headers)), Self.keys]) { server in
            let code = try #require(status.split(separator: " ").first.flatMap { Int($0) })
            #expect(try await fetch(try Self.source(server.endpoint)) == .failure(.failed(.container, .status(code))))
            #expect(server.received.count == 1)
        }
    }

    @Test(
        "An answer that is not credentials is final, and the error quotes nothing of it",
        arguments: [
            "", "SESAME", "[]", "{}", "null", #"{"AccessKeyId":"SESAME"}"#,
            #"{"AccessKeyId":"SESAME","SecretAccessKey":""}"#, #"{"AccessKeyId":1,"SecretAccessKey":"SESAME"}"#,
            #"{"AccessKeyId":"SESAME","SecretAccessKey":"SESAME\n"}"#,
            #"{"AccessKeyId":"SESAME","SecretAccessKey":"SESAME","Token":""}"#,
            #"{"AccessKeyId":"SESAME","SecretAccessKey":"SESAME","Expiration":"SESAME"}"#,
            #"{"AccessKeyId":"SESAME","SecretAccessKey":"SESAME","Expiration":""}"#,
            #"{"AccessKeyId":"SESAME","SecretAccessKey":"SESAME""#,
        ]
    )
    func malformed(body: String) async throws {
        try await ScriptedServer.with([.send(.answer("200 OK", body: body)), Self.keys]) { server in
            let result = try await fetch(try Self.source(server.endpoint))
            #expect(result == .failure(.failed(.container, .malformed)))
            var dumped = "\(result) \(String(reflecting: result))"
            dump(result, to: &dumped)
            #expect(!dumped.contains("SESAME"))
            #expect(server.received.count == 1)
        }
    }

    @Test(
        "An expiry may have fractions of a second, or be missing",
        arguments: [
            (#","Expiration":"2027-01-15T08:00:00Z""#, 1_800_000_000),
            (#","Expiration":"2027-01-15T08:00:00.500Z""#, 1_800_000_000.5),
            (#","Expiration":"2027-01-15T10:00:00+02:00""#, 1_800_000_000), (#","Expiration":null"#, nil), ("", nil),
        ] as [(String, TimeInterval?)]
    )
    func expiration(field: String, seconds: TimeInterval?) async throws {
        let body = #"{"AccessKeyId":"a","SecretAccessKey":"b"\#(field)}"#
        try await ScriptedServer.with([.send(.answer("200 OK", body: body))]) { server in
            let credentials = try await fetch(try Self.source(server.endpoint)).get()
            #expect(credentials.expiration?.timeIntervalSince1970 == seconds)
        }
    }

    @Test("An answer is read up to its limit, and no further", arguments: [0, 1])
    func size(beyond: Int) async throws {
        let json = #"{"AccessKeyId":"a","SecretAccessKey":"b"}"#
        let body = json.padding(
            toLength: 65_536 + beyond,
            withPad: " ",
            startingAt: 0
        )
        try await ScriptedServer.with([.send(.answer("200 OK", body: body)), Self.keys]) { server in
            let result = try await fetch(try Self.source(server.endpoint))
            if beyond == 0 {
                #expect(throws: Never.self) { try result.get() }
            } else {
                #expect(result == .failure(.failed(.container, .tooLarge)))
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A server that takes the connection and stays silent is left after four seconds and two tries")
    func silent() async throws {
        let server = try SilentServer()
        let source = try Self.source("http://127.0.0.1:\(server.port)")
        try await Self.expectSilence(of: source)
    }

    @Test("An answer that stops in the middle is left after as long")
    func broken() async throws {
        let half = Reply.sendAndHang("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"AccessKeyId\":")
        try await ScriptedServer.with([half, half, half]) { server in
            let source = try Self.source(server.endpoint)
            try await Self.expectSilence(of: source) { tries in
                try await poll("the server was asked") { server.received.count == tries }
            }
            #expect(server.received.count == 2)
        }
    }

    /// Sets the time forward from deadline to deadline.
    private static func expectSilence(
        of source: S3CredentialSource,
        beforeRinging: (Int) async throws -> Void = { _ in }
    ) async throws {
        let time = ManualTime()
        async let result = fetch(source, deadlines: S3CredentialDeadlines(), clock: time)
        try await beforeRinging(1)
        try await time.ring(.seconds(2))
        try await time.ring(.milliseconds(2_200))
        try await beforeRinging(2)
        try await time.ring(.seconds(4))
        let outcome = try await result
        #expect(outcome == .failure(.failed(.container, .silent)))
        #expect(time.elapsed == .seconds(4))
    }

    @Test("A refused connection is reported in the network's words")
    func refusedConnection() async throws {
        let result = try await fetch(try Self.source("http://127.0.0.1:1"))
        guard case .failure(let error) = result, case .failed(.container, .unreachable) = error else {
            Issue.record("\(result)")
            return
        }
        #expect("\(error)".hasPrefix("the container's credentials endpoint gave no credentials: it can't be reached ("))
        #expect("\(error)".contains("refused"))
    }
}
