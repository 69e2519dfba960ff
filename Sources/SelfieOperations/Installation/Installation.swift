import AsyncHTTPClient
import LinuxFiles
import ObjectStore
import Postgres
import S3
import SelfieConfiguration

/// The database and the store of a service, as the command line reaches them while the service runs or not.
package enum Installation {
    /// One connection holds what is compared, others look at single photos.
    private static let maxConnections = 4

    /// Opening a folder makes it, and whoever mistyped its name would have an empty one.
    static func requireFolder(_ path: String) throws(InstallationError) {
        // One that can't be looked at is told of when it is opened.
        guard case .success(nil) = Result(catching: { () throws(PosixFileError) in try FolderStatus(path: path) })
        else { return }
        throw .noFolder(path: path)
    }

    /// Makes what is needed to reach a database and a bucket, and takes it down again.
    static func withClients<Result>(
        _ configuration: PostgresConfiguration,
        _ body: (PostgresClient, HTTPClient) async throws -> Result
    ) async throws -> Result {
        var configuration = configuration
        configuration.statementTimeout = nil
        configuration.pool.maxConnections = maxConnections
        do {
            return try await PostgresClient.withClient(configuration: configuration) { postgres in
                try await S3Client.withHTTPClient { try await body(postgres, $0) }
            }
        } catch let error where error is PostgresError || error is ObjectStoreError {
            throw InstallationError.outage(error)
        }
    }
}
