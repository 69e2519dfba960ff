import ConnectionTestSupport
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("The service with keys from a container's endpoint", .timeLimit(.minutes(2)))
struct ContainerCredentialTests {
    private func withEndpoint(
        secretAccessKey: String? = nil,
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        let store = try await RcloneServer.shared
        let secret = secretAccessKey ?? store.secretAccessKey
        let answer = String.answer(
            "200 OK",
            body: #"{"AccessKeyId":"\#(store.accessKeyID)","SecretAccessKey":"\#(secret)"}"#
        )
        try await ScriptedServer.with(Array(repeating: .send(answer), count: 100)) { server in
            let settings = [
                "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "\(server.endpoint)/keys",
            ]
            try await TestService.run(store: .s3, settings: settings, body)
            #expect(server.received.first?.line == "GET /keys HTTP/1.1")
        }
    }

    @Test("It stores photos with them")
    func works() async throws {
        try await withEndpoint { service in
            let token = try await service.makeToken()
            let uploaded = try await service.upload(token: token)
            #expect(uploaded.status == 200)
            #expect(service.objects.keys() == [try #require(uploaded.json["random_id"] as? String)])
        }
    }

    @Test("The store refuses requests signed with other keys")
    func otherKeys() async throws {
        try await withEndpoint(secretAccessKey: "another") { service in
            let token = try await service.makeToken()
            #expect(try await service.upload(token: token).status == 503)
            #expect(service.objects.keys().isEmpty)
            #expect(try await service.postgres.read("SELECT FROM photos WHERE state = 'ready'").isEmpty)
        }
    }
}
