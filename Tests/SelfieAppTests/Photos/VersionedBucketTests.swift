import ConnectionTestSupport
import Foundation
import Postgres
import S3TestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import S3

/// Photos in a bucket that keeps old versions.
@Suite("A bucket that keeps versions", .timeLimit(.minutes(2)))
struct VersionedBucketTests {
    private static func upload(to service: TestService, token: String) async throws -> String {
        let answer = try await service.upload(TestImage.jpeg, token: token)
        return try #require(answer.json["random_id"] as? String)
    }

    @Test("After a deletion nothing of the photo is left, and the other photos are")
    func deletion() async throws {
        try await VersionedBucket.withService(sweeps: false) { service, bucket in
            let client = bucket.client
            let token = try await service.makeToken()
            let gone = try await Self.upload(to: service, token: token)
            let kept = try await Self.upload(to: service, token: token)
            // Somebody has put it again, or an answer was lost.
            try await client.put(key: gone, body: S3Body("again"), contentType: "image/jpeg")
            let before = try await client.allVersions()
            #expect(before.count == 3)
            #expect(try await service.count("SELECT count(*) FROM photos WHERE object_version IS NOT NULL") == 2)

            #expect(try await service.delete(gone, token: token).status == 200)
            let after = try await client.allVersions()
            #expect(after == before.filter { $0.hasPrefix(kept) } && after.count == 1)
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 0)
            let list = try #require(try await service.list(token: token).jsonArray)
            #expect(list.compactMap { $0["random_id"] as? String } == [kept])
        }
    }

    @Test("A process that never stored anything removes what another left in the middle of its deletions")
    func sweeping() async throws {
        try await VersionedBucket.withService(sweeps: true) { service, bucket in
            let client = bucket.client
            for key in ["stored", "hidden", "twice"] {
                let version = try await client.put(key: key, body: S3Body("x"), contentType: "image/jpeg")
                if key == "twice" { try await client.put(key: key, body: S3Body("x"), contentType: "image/jpeg") }
                // The other process ended after the object was hidden.
                if key == "hidden" { try await client.deleteOne(ObjectDeletion(key: key)) }
                let known = key == "hidden" ? nil : version
                try await service.postgres.write(
                    "INSERT INTO object_deletions (random_id, object_version) VALUES (\(key), \(known))"
                )
            }
            try await poll("nothing is left") { try await client.allVersions().isEmpty }
            try await poll("nothing is to be deleted") {
                try await service.count("SELECT count(*) FROM object_deletions") == 0
            }
        }
    }

    @Test("An account's deletion records the versions of its photos")
    func account() async throws {
        try await VersionedBucket.withService(sweeps: false) { service, bucket in
            let client = bucket.client
            let token = try await service.makeToken()
            let id = try await Self.upload(to: service, token: token)
            try await service.postgres.write("DELETE FROM object_deletions")
            let password = [("password", try TestService.encrypt("my password"))]
            let answer = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: tokenHeader(token),
                password
            )
            #expect(answer.status == 200)
            let versions = try await client.allVersions()
            let recorded = try await service.postgres.read(
                "SELECT random_id || ' ' || object_version AS version FROM object_deletions"
            ).map { try $0.decode("version", as: String.self) }
            #expect(recorded == versions && versions.first?.hasPrefix(id) == true)
        }
    }
}
