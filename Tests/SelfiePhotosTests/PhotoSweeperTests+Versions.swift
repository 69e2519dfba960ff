import Foundation
import Logging
import Postgres
import S3
import S3TestSupport
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfieAccounts
@testable import SelfiePhotos

extension PhotoSweeperTests {
    @Test("The version of an object goes into the record of its deletion, of a failed upload's, too")
    func versions() async throws {
        try await VersionedBucket.with { bucket in
            try await withScene { scene in
                let objects = S3ObjectStore(client: bucket.client)
                let source = RequestSource(address: .none, requestID: "test")
                func recorded() async throws -> [String] {
                    try await scene.postgres.read(
                        "SELECT random_id || ' ' || object_version AS version FROM object_deletions"
                    ).map { try $0.decode("version") }.sorted()
                }
                func upload(_ photo: NewPhoto, _ quota: PhotoQuota) async throws {
                    _ = try await UploadPhoto(photos: scene.photos, objects: objects, quota: quota)(
                        photo,
                        sessionID: scene.sessionID,
                        logger: TestLog().logger(level: .info)
                    )
                }
                let (first, second) = (try await scene.photo(), try await scene.photo())
                try await upload(first, .usual)
                let object = try await scene.photos.remove(first.randomID, ofUser: scene.userID, from: source)
                let firstVersions = try await bucket.client.allVersions()
                #expect(firstVersions == ["\(first.randomID) \(object.first?.versionID ?? "")"])
                #expect(try await recorded() == firstVersions)

                await #expect(throws: PhotoError.noRoom) {
                    try await upload(second, PhotoQuota(maxCount: 0, maxBytes: 1))
                }
                // The sweeper gave the upload up before its put ended.
                try await scene.postgres.write("UPDATE object_deletions SET object_version = NULL")
                for version in try await bucket.client.allVersions() {
                    let words = version.split(separator: " ").map(String.init)
                    try await scene.photos.removePending(words[0], versionID: words[1])
                    try await scene.photos.removePending(words[0], versionID: nil)
                }
                let allVersions = try await bucket.client.allVersions()
                #expect(allVersions.count == 2)
                #expect(try await recorded() == allVersions)
            }
        }
    }
}
