import Foundation
import NIOHTTP1
import ProcessTestSupport
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// The stores of the tests: two servers that have nothing in common but the protocol, or one that was given.
enum TestStore: CaseIterable {
    /// Written in Go; its signatures are checked by `gofakes3`.
    case rclone
    /// Written in Python; its signatures are checked by `botocore`.
    case moto
    /// Somebody's own, which `bin/soak --store` names.
    case given

    static let allCases: [TestStore] = GivenStore.isThere ? [.given] : [.rclone, .moto]
    /// Those that can keep old versions of objects.
    static let withVersions: [TestStore] = GivenStore.isThere ? [.given] : [.moto]
    /// Those that answer a presigned request with the headers of its URL.
    static let withAnswerHeaders: [TestStore] = GivenStore.isThere ? [.given] : [.moto]

    /// The one that tests share.
    var shared: any S3Server {
        get async throws {
            switch self {
            case .rclone: try await RcloneServer.shared
            case .moto: try await MotoServer.shared
            case .given: try GivenStore()
            }
        }
    }

    /// Runs a body with a client of a bucket that nobody else has, and that is not there yet.
    ///
    /// Nothing is left of the bucket.
    func withBucket<Result>(
        uploads: S3UploadPolicy = S3UploadPolicy(),
        _ body: (S3Client) async throws -> Result
    ) async throws -> Result {
        let (server, bucket) = (try await shared, "selfie-\(UUID().uuidString.lowercased())")
        return try await withS3Client(of: server, bucket: bucket, uploads: uploads) { client in
            do {
                let result = try await body(client)
                try await client.removeBucket()
                return result
            } catch {
                try? await client.removeBucket()
                throw error
            }
        }
    }

    /// Runs a body with a client of a bucket that keeps versions, and another that knows nothing of it.
    func withVersions(
        uploads: S3UploadPolicy = S3UploadPolicy(),
        _ body: (_ client: S3Client, _ stranger: S3Client) async throws -> Void
    ) async throws {
        try await withBucket(uploads: uploads) { client in
            try await client.createBucket()
            try await withVersions(in: client) { try await body(client, $0) }
        }
    }

    /// Has a bucket keep versions from now on, and runs a body with another client that knows nothing of it.
    func withVersions(in client: S3Client, _ body: (_ stranger: S3Client) async throws -> Void) async throws {
        if let refusal = await failure(of: { () async throws(S3Error) in try await client.keepVersions(true) }) {
            guard self == .given, refusal.isDenial || refusal.isOfMissingCall else { throw refusal }
            return print("This store keeps no versions, so none can be left: \(refusal)")
        }
        let server = try await shared
        try await withS3Client(of: server, bucket: client.configuration.bucket) { try await body($0) }
    }
}

extension S3Client {
    /// Removes the bucket with all that is in it.
    fileprivate func removeBucket() async throws(S3Error) {
        var next: String?
        repeat {
            let page = try await list(from: next)
            if !page.entries.isEmpty { _ = try await delete(page.entries.map { ObjectDeletion(key: $0.key) }) }
            next = page.next
        } while next != nil
        while case let uploads = try await listUploads().entries, !uploads.isEmpty {
            for upload in uploads {
                guard try await abortUpload(key: upload.key, uploadID: upload.id) else { return }
            }
        }
        while keepsVersions, case let versions = try await listVersions().entries, !versions.isEmpty {
            for version in versions {
                try await deleteOne(ObjectDeletion(key: version.key, versionID: version.versionID))
            }
        }
        do {
            try await send(S3Request(method: .DELETE), by: deadline(in: S3Deadlines.patient.call))
        } catch  where error.isMissingBucket {
            return
        }
    }
}
