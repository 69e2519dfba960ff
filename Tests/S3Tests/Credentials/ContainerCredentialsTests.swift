import ConnectionTestSupport
import Foundation
import TestSupport
import Testing

@testable import S3

@Suite("A container's credentials endpoint", .timeLimit(.minutes(1)))
struct ContainerCredentialsTests {
    private static func source(
        _ server: ScriptedServer,
        _ authorization: ContainerCredentials.Authorization = .none
    ) throws -> S3CredentialSource {
        .container(try ContainerCredentials(fullURI: "\(server.endpoint)/keys?a=1", authorization: authorization))
    }

    @Test("Is asked by GET with the token, and its JSON becomes credentials with an end")
    func success() async throws {
        try await ScriptedServer.with([.send(.credentials("1", expiration: credentialEpoch))]) { server in
            let result = try await fetch(try Self.source(server, .token("Basic abcd")))
            #expect(result == .success(try .test("1", expiration: credentialEpoch)))
            let request = try #require(server.received.first)
            #expect(request.line == "GET /keys?a=1 HTTP/1.1")
            #expect(request.headers["authorization"] == "Basic abcd")
            #expect(server.received.count == 1)
        }
    }

    @Test("Gets no Authorization header when there is no token")
    func noToken() async throws {
        try await ScriptedServer.with([.send(.credentials("1", expiration: credentialEpoch))]) { server in
            _ = try await fetch(try Self.source(server)).get()
            #expect(server.received.first?.headers["authorization"] == nil)
        }
    }

    @Test("Gets the token that the file holds at the time, which EKS changes")
    func rotatedToken() async throws {
        let replies = [ScriptedServer.Reply](repeating: .send(.credentials("1", expiration: credentialEpoch)), count: 2)
        try await ScriptedServer.with(replies) { server in
            try await TemporaryFolder.with { folder in
                let file = folder.appending(path: "token")
                let source = try Self.source(server, .file(path: file.path))
                for token in ["first", "second"] {
                    try Data(token.utf8).write(to: file)
                    _ = try await fetch(source).get()
                }
            }
            #expect(server.received.map { $0.headers["authorization"] } == ["first", "second"])
        }
    }

    @Test(
        "Is not asked with a file that holds no token of one line",
        arguments: ["", "SESAME\n", "SESAME\r\nX-Other: a", "SESAMÉ", String(repeating: "S", count: 33_000)]
    )
    func badTokenFile(content: String) async throws {
        try await ScriptedServer.with([]) { server in
            try await TemporaryFolder.with { folder in
                let file = folder.appending(path: "token")
                try Data(content.utf8).write(to: file)
                let result = try await fetch(try Self.source(server, .file(path: file.path)))
                #expect(result == .failure(.failed(.container, .tokenMalformed(path: file.path))))
                #expect(!"\(result)".contains("SESAM"))
            }
            #expect(server.received.isEmpty)
        }
    }

    @Test("Is not asked when the file with the token can't be read", arguments: ["/nowhere/token", "/"])
    func missingTokenFile(path: String) async throws {
        try await ScriptedServer.with([]) { server in
            let result = try await fetch(try Self.source(server, .file(path: path)))
            #expect(result == .failure(.failed(.container, .tokenFileUnreadable(path: path))))
            #expect(server.received.isEmpty)
        }
    }

    @Test(
        "A token that no header can hold is refused at once",
        arguments: ["", "SESAME\n", "SESAME\r\nX-Other: a", "SESAM\u{0}", "SESAMÉ"]
    )
    func badToken(token: String) {
        #expect(throws: S3CredentialConfigurationError.token) {
            try ContainerCredentials(relativeURI: "/keys", authorization: .token(token))
        }
    }

    @Test(
        "May be reached in the clear on this machine and at AWS's own addresses, by TLS anywhere",
        arguments: [
            "http://localhost/keys", "http://LOCALHOST:8080/keys?a=1", "http://127.0.0.1:1/", "http://127.9.8.7",
            "http://[::1]:80/keys", "http://[0:0:0:0:0:0:0:1]/keys", "http://169.254.170.2/keys",
            "http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/v1/credentials",
            "http://[fd00:0ec2:0:0::23]/keys", "https://keys.example/a", "HTTPS://10.0.0.1:8443/",
        ]
    )
    func allowed(uri: String) throws {
        #expect(try ContainerCredentials(fullURI: uri).url == uri)
    }

    @Test(
        "Is never another machine's without TLS, whatever it is called",
        arguments: [
            "http://keys.example/", "http://169.254.170.3/", "http://169.254.169.254/", "http://10.0.0.1/",
            "http://localhost.example/", "http://localhost./", "http://127.0.0.1.example/", "http://127.1/",
            "http://2130706433/", "http://0x7f.0.0.1/", "http://0.0.0.0/", "http://[::]/", "http://[::2]/",
            "http://[::ffff:127.0.0.1]/", "http://[fd00:ec2::254]/",
        ]
    )
    func refusedHost(uri: String) {
        #expect(throws: S3CredentialConfigurationError.fullURIHost) { try ContainerCredentials(fullURI: uri) }
    }

    @Test(
        "Has a URL of http or https without a user",
        arguments: [
            "", "keys", "/keys", "ftp://127.0.0.1/", "http://", "http:///keys", "file:///etc/passwd",
            "http://127.0.0.1@keys.example/", "https://user:SESAME@keys.example/", "http://127.0.0.1/a b",
            "http://127.0.0.1/\r\nX-Other:%20a", "http://127.0.0.1/#a", "http://127.0.0.1#@keys.example/",
        ]
    )
    func badURL(uri: String) {
        #expect(throws: S3CredentialConfigurationError.fullURI) { try ContainerCredentials(fullURI: uri) }
    }

    @Test("A relative URI is appended to the address of ECS's agent")
    func relative() throws {
        let container = try ContainerCredentials(relativeURI: "/v2/credentials/1?a=b")
        #expect(container.url == "http://169.254.170.2/v2/credentials/1?a=b")
    }

    @Test(
        "A relative URI can't lead to another host",
        arguments: ["", "keys", "@keys.example/", ".keys.example/", ":80@keys.example/", "/a b", "/a\r\nX: b", "/#a"]
    )
    func badRelative(uri: String) {
        #expect(throws: S3CredentialConfigurationError.relativeURI) { try ContainerCredentials(relativeURI: uri) }
    }

    @Test("No way of printing shows the token or the address")
    func redaction() throws {
        let uri = "http://127.0.0.1/SESAME"
        let container = try ContainerCredentials(fullURI: uri, authorization: .token("SESAME"))
        var dumped = "\(container) \(String(reflecting: S3CredentialSource.container(container)))"
        dump(S3CredentialSource.container(container), to: &dumped)
        #expect(!dumped.contains("SESAME"))
    }
}
