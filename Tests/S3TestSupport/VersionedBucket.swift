import Foundation
import ProcessTestSupport
package import S3

/// A bucket that keeps old versions, on the server that tests share.
package struct VersionedBucket: Sendable {
    /// The service's settings of it, instead of another store.
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
}
