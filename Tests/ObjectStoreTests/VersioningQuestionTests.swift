import ConnectionTestSupport
import S3
import S3TestSupport
import Testing

@testable import ObjectStore

@Suite("What a process asks a bucket when it starts")
struct VersioningQuestionTests {
    @Test("Whether it keeps versions, also with keys that may not list", arguments: [true, false])
    func versioning(mayList: Bool) async throws {
        let list =
            mayList
            ? String.answer("200 OK", body: "<ListBucketResult/>") : .failure("403 Forbidden", code: "AccessDenied")
        let versioning = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        try await ScriptedServer.with([.send(list), .send(.answer("200 OK", body: versioning))]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                var isRefused = false
                do throws(ObjectStoreError) {
                    try await S3ObjectStore(client: client).prepare()
                } catch {
                    guard case .refused = error else { throw error }
                    isRefused = true
                }
                #expect(isRefused == !mayList)
                #expect(client.keepsVersions)
            }
        }
    }
}
