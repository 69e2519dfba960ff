package import AsyncHTTPClient
package import Foundation
import NIOCore

/// A client for one bucket of an S3-compatible store.
///
/// Every call is tried up to three times within its deadline, each try signed anew. No ACL and no checksum header
/// besides `x-amz-content-sha256` is sent: buckets made since April 2023 refuse the first, other stores the second.
package struct S3Client: Sendable {
    /// The most bytes of UTF-8 in a key (AWS, "Naming Amazon S3 objects").
    package static let keyBytesMax = 1_024

    /// Which bucket, and how it is addressed.
    package let configuration: S3Configuration
    let httpClient: HTTPClient
    let credentials: S3Credentials
    let deadlines: S3Deadlines
    let retries: S3RetryPolicy
    let now: @Sendable () -> Date

    /// Puts a client together; it owns nothing that would have to be shut down.
    ///
    /// - Parameters:
    ///   - httpClient: made with ``httpClientConfiguration(deadlines:)``; the caller shuts it down.
    ///   - configuration: which bucket, and how it is addressed.
    ///   - credentials: the keys.
    ///   - deadlines: how long calls may take.
    ///   - retries: when and after what pause a try is repeated.
    ///   - now: the signing date of a try.
    package init(
        httpClient: HTTPClient,
        configuration: S3Configuration,
        credentials: S3Credentials,
        deadlines: S3Deadlines = S3Deadlines(),
        retries: S3RetryPolicy = S3RetryPolicy(),
        now: @escaping @Sendable () -> Date
    ) {
        self.httpClient = httpClient
        self.configuration = configuration
        self.credentials = credentials
        self.deadlines = deadlines
        self.retries = retries
        self.now = now
    }

    /// The settings that this client needs of its `HTTPClient`.
    ///
    /// - Parameter deadlines: the same as the client's.
    /// - Returns: a configuration to build the `HTTPClient` with.
    package static func httpClientConfiguration(
        deadlines: S3Deadlines = S3Deadlines()
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            // A redirect would be followed without its signature.
            redirectConfiguration: .disallow,
            // No read timeout: see `Watchdog`.
            timeout: .init(connect: TimeAmount(deadlines.connect)),
            // S3 closes idle connections after 5 to 20 s; who closes first never sends into a closed one.
            connectionPool: .init(idleTimeout: .seconds(3), concurrentHTTP1ConnectionsPerHostSoftLimit: 64),
            decompression: .disabled
        )
        configuration.httpVersion = .http1Only
        // Otherwise the pool itself retries a refused connection until the connect deadline, unseen by our policy.
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    var signer: Signer {
        Signer(credentials: credentials, region: configuration.region)
    }
}
