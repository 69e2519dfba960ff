package import Curl
package import FoundationEssentials
package import Logging
package import ObjectStore
import S3

extension ServiceConfiguration.ObjectStorage {
    /// Opens the configured store.
    ///
    /// - Parameters:
    ///   - curl: Made with `S3Client.connections`.
    ///   - options: How a bucket is used.
    ///   - now: The time.
    ///   - logger: Gets a line when credentials can't be fetched.
    /// - Returns: The store. A bucket need not exist yet.
    /// - Throws: `ServiceStartError.noCredentials`, or `ServiceStartError.folder` when a folder can't be made.
    package func open(
        curl: CurlClient,
        options: BucketOptions = BucketOptions(),
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) async throws -> any ObjectStore {
        switch self {
        case .disk(let path): return try DiskObjectStore.open(directory: path)
        case .s3(let bucket):
            return try await bucket.open(curl: curl, options: options, now: now, logger: logger)
        }
    }
}

extension ServiceConfiguration.Bucket {
    /// Opens the bucket, which need not exist yet.
    ///
    /// - Parameters:
    ///   - curl: Made with `S3Client.connections`.
    ///   - options: How it is used.
    ///   - now: The time.
    ///   - logger: Gets a line when credentials can't be fetched.
    /// - Returns: The store.
    /// - Throws: `ServiceStartError.noCredentials`.
    package func open(
        curl: CurlClient,
        options: BucketOptions = BucketOptions(),
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) async throws -> S3ObjectStore {
        let credentials = S3CredentialCache(
            source: credentials,
            curl: curl,
            onFailure: { logger.warning("credentials could not be fetched", metadata: ["error": "\($0)"]) },
            now: now
        )
        try await Self.requireKeys(credentials)
        return S3ObjectStore(
            client: S3Client(
                curl: curl,
                configuration: configuration,
                credentials: credentials,
                deadlines: options.deadlines,
                retries: options.retries,
                uploads: options.uploads,
                clock: options.clock,
                callerHeaders: options.callerHeaders,
                now: now
            ),
            transferPauses: options.transferPauses
        )
    }

    /// Checks that there are keys at all.
    ///
    /// Without them, requests would only get 503.
    private static func requireKeys(_ credentials: S3CredentialCache) async throws {
        do {
            _ = try await credentials.current()
        } catch .cancelled {
            throw CancellationError()
        } catch {
            throw ServiceStartError.noCredentials(error)
        }
    }
}

extension DiskObjectStore {
    /// Opens the folder of `OBJECTS_PATH`, and makes it if there is none.
    ///
    /// - Parameter path: The folder's path.
    /// - Returns: The store.
    /// - Throws: `ServiceStartError.folder` when it can't be made.
    package static func open(directory path: String) throws(ServiceStartError) -> DiskObjectStore {
        do {
            return try DiskObjectStore(directory: path)
        } catch {
            throw .folder(path: error.path, reason: error.reason)
        }
    }
}
