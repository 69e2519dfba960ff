import ConnectionTestSupport
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import S3

@Suite("A web identity's role", .timeLimit(.minutes(1)))
struct WebIdentityCredentialsTests {
    private static let role = "arn:aws:iam::123456789012:role/selfie"

    private static func withSource(
        _ replies: [ScriptedServer.Reply],
        token: String = "header.payload.signature",
        _ body: (ScriptedServer, S3CredentialSource, URL) async throws -> Void
    ) async throws {
        try await ScriptedServer.with(replies) { server in
            try await TemporaryFolder.with { folder in
                let file = folder.appending(path: "token")
                try Data(token.utf8).write(to: file)
                let credentials = try WebIdentityCredentials(
                    tokenPath: file.path,
                    role: role,
                    sessionName: "pod-1",
                    region: "eu-west-1",
                    endpoint: server.endpoint
                )
                try await body(server, .webIdentity(credentials), file)
            }
        }
    }

    /// As the reference of "AssumeRoleWithWebIdentity" has it, with other values.
    private static func answer(_ name: String, expiration: String = "2027-01-15T08:00:00Z") -> ScriptedServer.Reply {
        .send(
            .answer(
                "200 OK",
                body: """
                    <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                      <AssumeRoleWithWebIdentityResult>
                        <SubjectFromWebIdentityToken>system:serviceaccount:a:b</SubjectFromWebIdentityToken>
                        <Credentials>
                          <SessionToken>SESAMETOKEN\(name)</SessionToken>
                          <SecretAccessKey>SESAMESECRET\(name)</SecretAccessKey>
                          <Expiration>\(expiration)</Expiration>
                          <AccessKeyId>SESAMEKEY\(name)</AccessKeyId>
                        </Credentials>
                      </AssumeRoleWithWebIdentityResult>
                    </AssumeRoleWithWebIdentityResponse>
                    """
            )
        )
    }

    @Test("Its token is posted with the role, and the XML becomes credentials with an end")
    func success() async throws {
        try await Self.withSource([Self.answer("1")]) { server, source, _ in
            let keys = try await fetch(source).get()
            #expect(keys.accessKeyID == "SESAMEKEY1" && keys.secretAccessKey == "SESAMESECRET1")
            #expect(keys.sessionToken == "SESAMETOKEN1")
            #expect(keys.expiration == Date(timeIntervalSince1970: 1_800_000_000))
            let request = try #require(server.received.first)
            #expect(request.line == "POST / HTTP/1.1")
            #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
            #expect(request.headers["authorization"] == nil)
            let form = String(buffer: request.body)
            #expect(
                form
                    == "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3A"
                    + "role%2Fselfie&RoleSessionName=pod-1&WebIdentityToken=header.payload.signature"
            )
        }
    }

    @Test("The token is read for each fetch, because the provider replaces it")
    func rotation() async throws {
        try await Self.withSource([Self.answer("1"), Self.answer("2")]) { server, source, file in
            _ = try await fetch(source).get()
            try Data("second".utf8).write(to: file)
            _ = try await fetch(source).get()
            #expect(
                server.received.map { String(buffer: $0.body).split(separator: "=").last } == [
                    "header.payload.signature", "second",
                ]
            )
        }
    }

    @Test("A refusal, another document and a missing file are errors without the token or the answer")
    func failures() async throws {
        let refusal = ScriptedServer.Reply.send(.failure("403 Forbidden", code: "AccessDenied"))
        try await Self.withSource([refusal]) { _, source, _ in
            let result = try await fetch(source)
            #expect(result == .failure(.failed(.webIdentity, .status(403))))
        }
        for reply in [
            ScriptedServer.Reply.send(.answer("200 OK", body: "SESAME")), Self.answer("1", expiration: "never"),
        ] {
            try await Self.withSource([reply]) { _, source, _ in
                let result = try await fetch(source)
                #expect(result == .failure(.failed(.webIdentity, .malformed)))
            }
        }
        try await Self.withSource([]) { server, source, file in
            try FileManager.default.removeItem(at: file)
            let result = try await fetch(source)
            #expect(result == .failure(.failed(.webIdentity, .tokenFileUnreadable(path: file.path))))
            #expect(server.received.isEmpty)
        }
        try await Self.withSource([], token: "a\nb") { _, source, file in
            let result = try await fetch(source)
            #expect(result == .failure(.failed(.webIdentity, .tokenMalformed(path: file.path))))
        }
    }

    @Test("Without an endpoint of its own, the region's service is asked, by TLS")
    func endpoints() throws {
        func endpoint(_ region: String, _ own: String? = nil) throws -> String {
            try WebIdentityCredentials(tokenPath: "/t", role: Self.role, region: region, endpoint: own).endpoint
        }
        #expect(try endpoint("eu-west-1") == "https://sts.eu-west-1.amazonaws.com")
        #expect(try endpoint("cn-north-1") == "https://sts.cn-north-1.amazonaws.com.cn")
        #expect(try endpoint("x", "https://sts.example/") == "https://sts.example")
        #expect(try endpoint("x", "http://127.0.0.1:5000") == "http://127.0.0.1:5000")
        for bad in [
            "http://sts.example", "http://169.254.170.2", "sts.example", "https://a@sts.example", "https://", "ftp://a",
        ] {
            #expect(throws: S3CredentialConfigurationError.tokenServiceEndpoint) { try endpoint("x", bad) }
        }
    }

    @Test("A role or a session's name that AWS would refuse is refused at the start")
    func arguments() {
        for role in ["", "arn:aws:iam::1:role", "arn:aws:iam::123456789012:role/a b"] {
            #expect(throws: S3CredentialConfigurationError.role) {
                try WebIdentityCredentials(tokenPath: "/t", role: role, region: "x")
            }
        }
        for name in ["a", "a b", "a/b", String(repeating: "a", count: 65)] {
            #expect(throws: S3CredentialConfigurationError.sessionName) {
                try WebIdentityCredentials(tokenPath: "/t", role: Self.role, sessionName: name, region: "x")
            }
        }
    }
}
