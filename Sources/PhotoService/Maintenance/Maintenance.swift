import AsyncHTTPClient
package import FoundationEssentials
package import Logging
import Postgres
import S3

/// What is done to an installation from the command line, while the service runs or not.
package enum Maintenance {
    /// One connection holds what is compared, others look at single photos.
    private static let connectionsMax = 4

    /// Compares rows and objects both ways, and repairs what does not match unless it is only to look.
    ///
    /// - Parameters:
    ///   - options: What to do.
    ///   - configuration: The service's.
    ///   - logger: Told what goes wrong on the way.
    ///   - now: The time.
    ///   - onProgress: Told how far it is.
    ///   - onFinding: Told of each thing that is wrong.
    /// - Returns: What was found and repaired.
    /// - Throws: `ReconciliationError`, `ServiceStartError` or `MaintenanceError`.
    package static func reconcile(
        _ options: ReconciliationOptions,
        configuration: ServiceConfiguration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onProgress: @escaping @Sendable (TaskProgress) -> Void = { _ in },
        onFinding: @escaping @Sendable (ReconciliationFinding) -> Void = { _ in }
    ) async throws -> ReconciliationReport {
        try await withClients(configuration.postgres) { postgres, httpClient in
            let photos = PhotoStore(postgres: postgres)
            if case .disk(let path) = configuration.objectStorage, !options.isForced { try requireFolder(path) }
            let objects = try await configuration.objectStorage.open(httpClient: httpClient, now: now, logger: logger)
            if case .s3(let bucket) = configuration.objectStorage, !options.isForced {
                try await requireBucket(bucket, objects: objects, photos: photos)
            }
            let sweeper = PhotoSweeper(photos: photos, objects: objects, interval: .zero, now: now, logger: logger)
            let reconcile = ReconcilePhotos(
                photos: photos,
                objects: objects,
                sweeper: sweeper,
                options: options,
                now: now,
                onProgress: onProgress,
                onFinding: onFinding
            )
            return try await reconcile()
        }
    }

    /// Copies all photos from one store to the other, while services go on using the first.
    ///
    /// - Parameters:
    ///   - direction: Which way.
    ///   - configuration: The database and both stores.
    ///   - logger: Told what goes wrong on the way.
    ///   - now: The time.
    ///   - onProgress: Told how far it is.
    ///   - onOutcome: Told what came of each photo, by its `random_id`.
    /// - Returns: How often what came of a photo.
    /// - Throws: `ServiceStartError` or `MaintenanceError`.
    package static func copy(
        _ direction: CopyDirection,
        configuration: CopyConfiguration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onProgress: @escaping @Sendable (TaskProgress) -> Void = { _ in },
        onOutcome: @escaping @Sendable (CopyOutcome, String) -> Void = { _, _ in }
    ) async throws -> CopyReport {
        try await withClients(configuration.postgres) { postgres, httpClient in
            if direction == .s3 { try requireFolder(configuration.path) }
            let copy = CopyPhotos(
                photos: PhotoStore(postgres: postgres),
                disk: try DiskObjectStore(directory: configuration.path),
                bucket: try await configuration.bucket.open(httpClient: httpClient, now: now, logger: logger),
                direction: direction,
                onProgress: onProgress,
                onOutcome: onOutcome
            )
            return try await copy()
        }
    }

    /// Opening a folder makes it, and whoever mistyped its name would have an empty one.
    private static func requireFolder(_ path: String) throws(MaintenanceError) {
        // One that can't be looked at is told of when it is opened.
        guard case .success(nil) = Result(catching: { () throws(PosixFileError) in try FolderStatus(path: path) })
        else { return }
        throw .noFolder(path: path)
    }

    /// A bucket that is not there yet is as good as an empty one, but where there are photos its name is mistyped.
    private static func requireBucket(
        _ bucket: ServiceConfiguration.Bucket,
        objects: any ObjectStore,
        photos: PhotoStore
    ) async throws {
        // Before the bucket is looked at, since the first upload may just be making it.
        let isEmpty = try await photos.isEmpty()
        do {
            try await objects.prepare()
        } catch {
            guard error.isMissingBucket else { throw error }
            guard isEmpty else { throw MaintenanceError.noBucket(name: bucket.configuration.bucket) }
        }
    }

    /// Makes what is needed to reach a database and a bucket, and takes it down again.
    private static func withClients<Result>(
        _ configuration: PostgresConfiguration,
        _ body: (PostgresClient, HTTPClient) async throws -> Result
    ) async throws -> Result {
        var configuration = configuration
        configuration.statementTimeout = nil
        configuration.pool.connectionsMax = connectionsMax
        do {
            return try await PostgresClient.withClient(configuration: configuration) { postgres in
                try await withHTTPClient { try await body(postgres, $0) }
            }
        } catch let error where error is PostgresError || error is ObjectStoreError {
            throw MaintenanceError.outage(error)
        }
    }

    private static func withHTTPClient<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
        let httpClient = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: S3Client.httpClientConfiguration()
        )
        do {
            let result = try await body(httpClient)
            try await httpClient.shutdown()
            return result
        } catch {
            try? await httpClient.shutdown()
            throw error
        }
    }
}
