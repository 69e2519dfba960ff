import ConnectionTestSupport
import S3
import S3TestSupport
import Testing

@testable import ObjectStore

@Suite("A bucket that is away")
struct S3ObjectStoreTests {
    @Test("It is not empty: its deletions wait for it, as in an outage", arguments: [["a"], ["a", "b"]], [nil, "v"])
    func deletion(keys: [String], versionID: String?) async throws {
        let missing = ScriptedServer.Reply.send(.failure("404 Not Found", code: "NoSuchBucket"))
        try await ScriptedServer.with([missing]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await #expect(throws: ObjectStoreError.self) {
                    _ = try await S3ObjectStore(client: client).delete(
                        keys.map { ObjectDeletion(key: $0, versionID: versionID) }
                    )
                }
                guard case .unavailable = error else {
                    Issue.record("\(String(describing: error)) is no outage")
                    return
                }
            }
        }
    }
}
