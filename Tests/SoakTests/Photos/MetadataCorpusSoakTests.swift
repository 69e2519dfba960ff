import ConnectionTestSupport
import Foundation
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

/// A hundred photos full of metadata, and decoders and exiftool to look at them.
///
/// `bin/soak` installs these.
@Suite("A corpus of photos with metadata", .timeLimit(.minutes(10)))
struct MetadataCorpusSoakTests {
    @Test(
        "What is stored has the same pixels and no metadata, and stays the same when it is uploaded again",
        arguments: [("strip_corpus.py", 96), ("heif_corpus.py", 13)]
    )
    func corpus(script: String, photoCount: Int) async throws {
        try await TemporaryFolder.with { folder in
            let (before, after) = (folder.appending(path: "before"), folder.appending(path: "after"))
            try FileManager.default.createDirectory(at: after, withIntermediateDirectories: true)
            _ = try await PythonScript.run(script, ["make", before.path])
            let names = try FileManager.default.contentsOfDirectory(atPath: before.path)
            #expect(names.count >= photoCount)
            try await TestService.run(settings: ["LOG_LEVEL": "trace"]) { service in
                let token = try await service.makeToken()
                for name in names {
                    let photo = try Data(contentsOf: before.appending(path: name))
                    let stored = try #require(try await Self.store(photo, in: service, token: token), "\(name)")
                    #expect(try await Self.store(stored, in: service, token: token) == stored, "\(name)")
                    try stored.write(to: after.appending(path: name))
                }
                for secret in ["Jane Roe", "SN-0815-4711", "Secret Cameras", "PLANTED"] {
                    #expect(!service.log.text.contains(secret), "\(secret)")
                }
            }
            _ = try await PythonScript.run(script, ["compare", before.path, after.path])
        }
    }

    /// What the store has of a photo once it is uploaded; nil when it is refused.
    private static func store(_ photo: Data, in service: TestService, token: String) async throws -> Data? {
        let answer = try await service.upload(photo, token: token)
        guard answer.status == 200, let id = answer.json["random_id"] as? String else { return nil }
        return service.objects.bytes(key: id)
    }
}
