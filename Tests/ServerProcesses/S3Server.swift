/// A real S3 server for one test.
///
/// It checks signatures in headers and presigned URLs.
package protocol S3Server: Sendable {
    /// The id of the one key pair.
    var accessKeyID: String { get }
    /// The secret of the one key pair.
    var secretAccessKey: String { get }
    /// What temporary keys need beside the secret.
    var sessionToken: String? { get }
    /// Its URL, such as `http://127.0.0.1:39077`.
    var endpoint: String { get }
    /// The region to sign for.
    var region: String { get }
    /// Whether the bucket must be in the path, whatever the URL.
    var forcesPathStyle: Bool { get }

    /// Starts a server without buckets, and waits until it answers. End it with ``stop()``.
    static func start() async throws -> Self

    /// Ends the server for good and removes its files.
    func stop()
}

extension S3Server {
    package var sessionToken: String? { nil }
    package var region: String { "us-east-1" }
    package var forcesPathStyle: Bool { true }

    /// Starts a server, runs a body, and stops the server in any case.
    ///
    /// - Parameter body: uses the server.
    /// - Returns: what the body returned.
    /// - Throws: `ServerProcessError` when the server does not start, or the body's error.
    package static func withServer<Result>(_ body: (Self) async throws -> Result) async throws -> Result {
        let server = try await start()
        defer { server.stop() }
        return try await body(server)
    }
}
