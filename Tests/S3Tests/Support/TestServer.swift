import Foundation
import ProcessTestSupport
import S3
import S3TestSupport
import ServerProcesses

/// The two S3 servers of the tests, which have nothing in common but the protocol.
enum TestServer: CaseIterable {
    /// Written in Go; its signatures are checked by `gofakes3`.
    case rclone
    /// Written in Python; its signatures are checked by `botocore`.
    case moto

    /// The one that tests share.
    var shared: any S3Server {
        get async throws {
            switch self {
            case .rclone: try await RcloneServer.shared
            case .moto: try await MotoServer.shared
            }
        }
    }

    /// Runs a body with a bucket's name that nobody else has on a server of this kind; there is no such bucket yet.
    func run<Result>(_ body: (any S3Server, String) async throws -> Result) async throws -> Result {
        try await body(shared, "bucket-\(UUID().uuidString.lowercased())")
    }
}
