package import Concurrency
import Curl
package import Foundation
package import S3
package import ServerProcesses

/// Keys as AWS prints them in its documentation.
package let exampleKeys = (id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

/// Makes a client for the time of the body.
///
/// - Parameters:
///   - endpoint: Where the store listens.
///   - bucket: Need not be there.
///   - region: What requests are signed for.
///   - forcePathStyle: Whether the bucket is in the path, whatever the endpoint.
///   - keys: What requests are signed with.
///   - source: Where keys come from instead.
///   - deadlines: Such that no busy machine breaks them, unless they are what the test is about.
///   - retries: Without pauses, unless they are what the test is about.
///   - uploads: What goes in parts.
///   - clock: What deadlines are kept by.
///   - now: What requests are dated by.
///   - body: Uses the client.
/// - Returns: What the body returns.
/// - Throws: What the body throws, or `S3ConfigurationError`.
@discardableResult
package func withS3Client<Result>(
    endpoint: String,
    bucket: String = "photos",
    region: String = "us-east-1",
    forcePathStyle: Bool = false,
    keys: (id: String, secret: String) = exampleKeys,
    source: S3CredentialSource? = nil,
    deadlines: S3Deadlines = .patient,
    retries: S3RetryPolicy = .immediate,
    uploads: S3UploadPolicy = S3UploadPolicy(),
    clock: any MonotonicClock = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    perform body: (S3Client) async throws -> Result
) async throws -> Result {
    let curl = CurlClient(S3Client.connections(deadlines: deadlines))
    let client = S3Client(
        curl: curl,
        configuration: try S3Configuration(
            bucket: bucket,
            region: region,
            endpoint: endpoint,
            forcePathStyle: forcePathStyle
        ),
        credentials: S3CredentialCache(
            source: try source ?? .fixed(S3Credentials(accessKeyID: keys.id, secretAccessKey: keys.secret)),
            curl: curl,
            clock: clock,
            now: now
        ),
        deadlines: deadlines,
        retries: retries,
        uploads: uploads,
        clock: clock,
        now: now
    )
    return try await body(client)
}

/// Makes a client for a server's own keys.
///
/// - Parameters:
///   - server: The store.
///   - bucket: Need not be there.
///   - deadlines: As of the other.
///   - uploads: What goes in parts.
///   - clock: What deadlines are kept by.
///   - body: Uses the client.
/// - Returns: What the body returns.
/// - Throws: What the body throws.
@discardableResult
package func withS3Client<Result>(
    of server: any S3Server,
    bucket: String = "photos",
    deadlines: S3Deadlines = .patient,
    uploads: S3UploadPolicy = S3UploadPolicy(),
    clock: any MonotonicClock = ContinuousClock(),
    perform body: (S3Client) async throws -> Result
) async throws -> Result {
    try await withS3Client(
        endpoint: server.endpoint,
        bucket: bucket,
        region: server.region,
        forcePathStyle: server.forcesPathStyle,
        source: .fixed(
            try S3Credentials(
                accessKeyID: server.accessKeyID,
                secretAccessKey: server.secretAccessKey,
                sessionToken: server.sessionToken
            )
        ),
        deadlines: deadlines,
        uploads: uploads,
        clock: clock,
        perform: body
    )
}

extension S3RetryPolicy {
    /// Tries again without a pause.
    package static let immediate = S3RetryPolicy(random: { $0.lowerBound })
}

extension S3Client {
    /// Removes objects of which only the keys are known.
    ///
    /// - Parameter keys: The objects'.
    /// - Returns: The keys of which something is still there, each with the reason.
    /// - Throws: `S3Error`.
    package func delete(keys: [String]) async throws(S3Error) -> [String: S3Failure] {
        try await delete(keys.map { ObjectDeletion(key: $0) })
    }

    /// All objects, of all pages.
    ///
    /// - Returns: As they are listed.
    /// - Throws: `S3Error`.
    package func allObjects() async throws(S3Error) -> [ObjectEntry] {
        var entries: [ObjectEntry] = []
        var next: String?
        repeat {
            let page = try await list(from: next)
            entries += page.entries
            next = page.next
        } while next != nil
        return entries
    }
}
