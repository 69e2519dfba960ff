import TestSupport

/// The two S3 servers of the tests, which have nothing in common but the protocol.
enum TestServer: CaseIterable {
    /// Written in Go; its signatures are checked by `gofakes3`.
    case rclone
    /// Written in Python; its signatures are checked by `botocore`.
    case moto

    /// Runs a body with a server of this kind, without buckets.
    func run(_ body: (any S3Server) async throws -> Void) async throws {
        switch self {
        case .rclone: try await RcloneServer.withServer(body)
        case .moto: try await MotoServer.withServer(body)
        }
    }
}
