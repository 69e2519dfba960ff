import Foundation
import ProcessTestSupport
package import S3
import S3TestSupport

@testable import SelfieApp

/// A bucket that keeps old versions, on the server that tests share.
package struct VersionedBucket: Sendable {
    /// What the service is told about it, in place of another store.
    package let settings: [String: String]
    /// A client of it, beside the service's.
    package let client: S3Client

    /// Runs a body with a new, empty bucket.
    ///
    /// - Parameter body: Uses the bucket.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the server from starting.
    package static func with<Result>(_ body: (VersionedBucket) async throws -> Result) async throws -> Result {
        let (server, bucket) = (try await MotoServer.shared, "versions-\(UUID().uuidString.lowercased())")
        return try await withS3Client(of: server, bucket: bucket) { client in
            try await client.createBucket()
            try await client.keepVersions(true)
            let settings = [
                "S3_BUCKET_NAME": bucket,
                "AWS_ACCESS_KEY_ID": server.accessKeyID,
                "AWS_SECRET_ACCESS_KEY": server.secretAccessKey,
                "AWS_ENDPOINT_URL_S3": server.endpoint,
            ]
            return try await body(VersionedBucket(settings: settings, client: client))
        }
    }

    /// Runs a body with a service on a new, empty bucket.
    ///
    /// - Parameters:
    ///   - sweeps: Whether the service works in the background.
    ///   - body: Uses the service and the bucket.
    /// - Throws: What the body throws, or what keeps the service from starting.
    package static func withService(
        sweeps: Bool = false,
        _ body: @Sendable (TestService, VersionedBucket) async throws -> Void
    ) async throws {
        try await with { bucket in
            try await TestService.run(
                store: .s3,
                settings: bucket.settings,
                adjust: { $0.worksInBackground = sweeps }
            ) { try await body($0, bucket) }
        }
    }
}
