import ConnectionTestSupport
import Foundation
import Testing

@testable import S3

@Suite("EC2's metadata service", .timeLimit(.minutes(1)))
struct InstanceCredentialsTests {
    private static let token = ScriptedServer.Reply.send(.answer("200 OK", body: "SESAME=="))
    private static let role = ScriptedServer.Reply.send(.answer("200 OK", body: "web+=,.@-_1"))
    private static let keys = ScriptedServer.Reply.send(
        .credentials("1", expiration: credentialEpoch, code: "Success")
    )

    private static func source(_ server: ScriptedServer) throws -> S3CredentialSource {
        .instance(try InstanceCredentials(endpoint: server.endpoint + "/"))
    }

    @Test("Is asked for a token, the role and its credentials, in version 2 alone")
    func success() async throws {
        try await ScriptedServer.with([Self.token, Self.role, Self.keys]) { server in
            let result = try await fetch(try Self.source(server))
            #expect(result == .success(try .test("1", expiration: credentialEpoch)))
            let path = "/latest/meta-data/iam/security-credentials/"
            #expect(
                server.received.map(\.line) == [
                    "PUT /latest/api/token HTTP/1.1", "GET \(path) HTTP/1.1", "GET \(path)web+=,.@-_1 HTTP/1.1",
                ]
            )
            let seconds = server.received.first?.headers["x-aws-ec2-metadata-token-ttl-seconds"].flatMap { Int($0) }
            #expect((1...21_600).contains(seconds ?? 0))
            #expect(server.received.map { $0.headers["x-aws-ec2-metadata-token"] } == [nil, "SESAME==", "SESAME=="])
        }
    }

    @Test("Without a token nothing else is asked", arguments: ["403 Forbidden", "404 Not Found", "405 Not Allowed"])
    func noVersion1(status: String) async throws {
        try await ScriptedServer.with([.send(.answer(status)), Self.role, Self.keys]) { server in
            let result = try await fetch(try Self.source(server))
            let code = try #require(status.split(separator: " ").first.flatMap { Int($0) })
            #expect(result == .failure(.failed(.instance, .status(code))))
            #expect(server.received.count == 1)
        }
    }

    @Test("A token that no header can hold is not sent", arguments: ["", "SESAME\r\nX-Other: a", "SESAME A", "SESAMÉ"])
    func badToken(token: String) async throws {
        try await ScriptedServer.with([.send(.answer("200 OK", body: token)), Self.role]) { server in
            let result = try await fetch(try Self.source(server))
            #expect(result == .failure(.failed(.instance, .malformed)))
            #expect(server.received.count == 1)
        }
    }

    @Test("An instance without a role is reported as such", arguments: ["404 Not Found", "200 OK"])
    func noRole(status: String) async throws {
        try await ScriptedServer.with([Self.token, .send(.answer(status))]) { server in
            let result = try await fetch(try Self.source(server))
            #expect(result == .failure(.failed(.instance, .noRole)))
            #expect(server.received.count == 2)
        }
    }

    @Test("A role's name that IAM does not allow is not asked for", arguments: ["a/b", "a?b", "a b", "<html>", "ä"])
    func badRole(role: String) async throws {
        try await ScriptedServer.with([Self.token, .send(.answer("200 OK", body: role)), Self.keys]) { server in
            let result = try await fetch(try Self.source(server))
            #expect(result == .failure(.failed(.instance, .malformed)))
            #expect(server.received.count == 2)
        }
    }

    @Test("Of several roles the first is asked for")
    func roles() async throws {
        let list = ScriptedServer.Reply.send(.answer("200 OK", body: "first\nsecond\n"))
        try await ScriptedServer.with([Self.token, list, Self.keys]) { server in
            _ = try await fetch(try Self.source(server)).get()
            #expect(server.received.last?.target.hasSuffix("/first") == true)
        }
    }

    @Test(
        "A code other than Success is a failure that names it, if it is a word",
        arguments: [
            ("AssumeRoleUnauthorizedAccess", "AssumeRoleUnauthorizedAccess"), ("Failed", "Failed"),
            ("SESAME 1", "without a reason"), ("", "without a reason"),
        ]
    )
    func unsuccessful(code: String, shown: String) async throws {
        let answer = ScriptedServer.Reply.send(.credentials("1", expiration: credentialEpoch, code: code))
        try await ScriptedServer.with([Self.token, Self.role, answer]) { server in
            let result = try await fetch(try Self.source(server))
            #expect(result == .failure(.failed(.instance, .unsuccessful(code: shown))))
            #expect(server.received.count == 3)
        }
    }

    @Test("Credentials without a code are none")
    func noCode() async throws {
        let answer = ScriptedServer.Reply.send(.credentials("1", expiration: credentialEpoch))
        try await ScriptedServer.with([Self.token, Self.role, answer]) { server in
            let result = try await fetch(try Self.source(server))
            #expect(result == .failure(.failed(.instance, .malformed)))
        }
    }

    @Test("After a passing failure in the middle it is asked from the start")
    func retry() async throws {
        let busy = ScriptedServer.Reply.send(.answer("503 Service Unavailable"))
        try await ScriptedServer.with([Self.token, busy, Self.token, Self.role, Self.keys]) { server in
            _ = try await fetch(try Self.source(server)).get()
            #expect(server.received.count == 5)
        }
    }

    @Test(
        "Its address may be another, as a URL of http or https",
        arguments: [
            (nil, "http://169.254.169.254"), ("http://[fd00:ec2::254]", "http://[fd00:ec2::254]"),
            ("https://meta.example:8443/", "https://meta.example:8443"), ("http://meta/base/", "http://meta/base"),
        ] as [(String?, String)]
    )
    func endpoint(given: String?, used: String) throws {
        #expect(try InstanceCredentials(endpoint: given).endpoint == used)
    }

    @Test(
        "Its address is no other kind of URL",
        arguments: [
            "", "meta", "ftp://meta", "http://", "http://user@meta", "http://meta?a", "http://meta#a", "http://m m",
        ]
    )
    func badEndpoint(given: String) {
        #expect(throws: S3CredentialConfigurationError.metadataEndpoint) { try InstanceCredentials(endpoint: given) }
    }
}
