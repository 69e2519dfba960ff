import Logging
import Postgres
import SelfieAccounts
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfiePhotos

extension PhotoSweeperTests {
    @Test("A session that has ended during the upload does not get the photo of its key")
    func endedSession() async throws {
        try await withScene { scene in
            let upload = UploadPhoto(photos: scene.photos, objects: scene.objects, quota: .usual)
            let logger = TestLog().logger(level: .info)
            let key = try #require(UploadKey("k"))
            let first = try await upload(try await scene.photo(key: key), sessionID: scene.sessionID, logger: logger)
            let again = try await upload(try await scene.photo(key: key), sessionID: scene.sessionID, logger: logger)
            #expect(!first.isEarlier && again.isEarlier && again.row[0].randomID == first.row[0].randomID)
            try await scene.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT user_id, sha256('other'), expires_at FROM sessions
                """
            )
            try await scene.postgres.write("DELETE FROM sessions WHERE id = \(scene.sessionID)")
            let late = try await scene.photo(key: key)
            await #expect(throws: SessionError.ended) {
                try await upload(late, sessionID: scene.sessionID, logger: logger)
            }
            #expect(try await scene.photoIDs().count == 1)
        }
    }
}
