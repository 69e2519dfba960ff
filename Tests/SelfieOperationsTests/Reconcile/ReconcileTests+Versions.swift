import Foundation
import NIOCore
import Postgres
import S3TestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import S3
@testable import SelfieConfiguration
@testable import SelfieOperations

/// Old versions of deleted photos.
extension ReconcileTests {
    @Test("Versions of deleted photos are found and removed on request, and no others")
    func versions() async throws {
        try await VersionedBucket.withService { service, bucket in
            let client = bucket.client
            let token = try await service.makeToken()
            let ids = try await Self.upload(3, to: service, token: token)
            // A former Selfie deleted the first without its versions. The second waits for its deletion.
            for id in ids.dropLast() {
                try await service.postgres.write("DELETE FROM photos WHERE random_id = \(id)")
                try await client.deleteOne(ObjectDeletion(key: id))
            }
            try await service.postgres.write(
                "INSERT INTO object_deletions (random_id, due_at) VALUES (\(ids[1]), '2100-01-01')"
            )
            // The third was stored twice.
            try await client.put(
                key: ids[2],
                body: S3Body(ByteBuffer(bytes: TestImage.jpeg)),
                contentType: "image/jpeg"
            )
            let all = try await client.allVersions()
            #expect(all.count == 6)

            func reconcile(
                repairs: Bool,
                minSeconds: Int = 0,
                includesVersions: Bool = true
            ) async throws -> [String] {
                try await Self.reconcile(
                    service,
                    repairs: repairs,
                    minSeconds: minSeconds,
                    includesVersions: includesVersions,
                    settings: bucket.settings
                ).findings
            }
            #expect(try await reconcile(repairs: false, includesVersions: false).isEmpty)
            #expect(try await reconcile(repairs: true, minSeconds: 60).isEmpty, "they are young")
            let found = "versionWithoutPhoto \(ids[0])"
            #expect(try await reconcile(repairs: false) == ["\(found) false", "\(found) false"])
            #expect(try await client.allVersions() == all, "a dry run deletes nothing")
            #expect(try await reconcile(repairs: true) == ["\(found) true", "\(found) true"])
            let left = try await client.allVersions()
            #expect(left == all.filter { !$0.hasPrefix(ids[0]) } && left.count == 4)
            #expect(try await reconcile(repairs: true).isEmpty)
        }
    }

    @Test("Versions beside a database without photos stay, unless they are to go by force")
    func versionsOfAnotherInstallation() async throws {
        try await VersionedBucket.with { bucket in
            let client = bucket.client
            for number in 0..<6 {
                try await client.put(key: "photo\(number)", body: S3Body("x"), contentType: "image/jpeg")
                try await client.deleteOne(ObjectDeletion(key: "photo\(number)"))
            }
            try await TestService.run(store: .s3, settings: bucket.settings) { service in
                await #expect(throws: ReconciliationError.self) {
                    try await Self.reconcile(
                        service,
                        repairs: true,
                        includesVersions: true,
                        settings: bucket.settings
                    )
                }
                #expect(try await client.allVersions().count == 12)
                _ = try await Self.reconcile(
                    service,
                    repairs: true,
                    isForced: true,
                    includesVersions: true,
                    settings: bucket.settings
                )
                #expect(try await client.allVersions().isEmpty)
            }
        }
    }

    @Test("Versions of a photo whose object was hidden stay in the run that finds it, for a restore")
    func versionsOfLostPhoto() async throws {
        try await VersionedBucket.withService { service, bucket in
            let client = bucket.client
            let ids = try await Self.upload(3, to: service, token: try await service.makeToken())
            try await client.deleteOne(ObjectDeletion(key: ids[0]))
            let before = try await client.allVersions()
            #expect(before.count == 4)
            let result = try await Self.reconcile(
                service,
                repairs: true,
                includesVersions: true,
                settings: bucket.settings
            )
            #expect(result.findings == ["photoWithoutObject \(ids[0]) true"])
            let after = try await client.allVersions()
            #expect(after == before)
        }
    }
}
