/// A real S3 server that a test has to itself: it checks signatures, header form and presigned, and wants path style.
package protocol S3Server: Sendable {
    /// The id of the one key pair.
    var accessKeyID: String { get }
    /// The secret of the one key pair.
    var secretAccessKey: String { get }
    /// Where it listens, such as `http://127.0.0.1:39077`.
    var endpoint: String { get }

    /// Starts a server without buckets, answering; ``stop()`` it.
    static func start() async throws -> Self

    /// Ends the server for good and removes all of it.
    func stop()
}

extension S3Server {
    /// Starts a server, and stops it after the body, however that ends.
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
