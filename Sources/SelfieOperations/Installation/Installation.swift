import Curl
import LinuxFiles
import Postgres
import S3
import SelfieConfiguration

/// The database and the store of a service, for the command line.
///
/// The service may be running or not.
package enum Installation {
    /// One connection holds the temporary table; others look at single photos.
    private static let maxConnections = 4

    /// Opening a folder makes it, so a mistyped name would give an empty one.
    static func requireFolder(_ path: String) throws(InstallationError) {
        // A folder that can't be read is reported when it is opened.
        guard case .success(nil) = Result(catching: { () throws(PosixFileError) in try FolderStatus(path: path) })
        else { return }
        throw .noFolder(path: path)
    }

    /// Runs a body with a client of the database, without a time limit: a person at the terminal decides how long to wait.
    static func withDatabase<Result>(
        _ configuration: PostgresConfiguration,
        maxConnections: Int,
        _ body: (PostgresClient) async throws -> Result
    ) async throws -> Result {
        var configuration = configuration
        configuration.statementTimeout = nil
        configuration.pool.maxConnections = maxConnections
        return try await PostgresClient.withClient(configuration: configuration, body)
    }

    /// Runs a body with clients of the database and of HTTP.
    static func withClients<Result>(
        _ configuration: PostgresConfiguration,
        _ body: (PostgresClient, CurlClient) async throws -> Result
    ) async throws -> Result {
        do {
            return try await withDatabase(configuration, maxConnections: maxConnections) { postgres in
                try await body(postgres, CurlClient(S3Client.connections()))
            }
        } catch {
            throw InstallationError.explanation(of: error)
        }
    }
}
