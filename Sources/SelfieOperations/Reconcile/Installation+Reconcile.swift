package import FoundationEssentials
package import Logging
import ObjectStore
import S3
package import SelfieConfiguration
import SelfiePhotos

extension Installation {
    /// Compares rows and objects both ways.
    ///
    /// Repairs the differences, unless it must only look.
    ///
    /// - Parameters:
    ///   - options: What to do.
    ///   - configuration: The service's.
    ///   - logger: Gets a line for each failure on the way.
    ///   - now: The time.
    ///   - onProgress: Called with the progress.
    ///   - onFinding: Called for each difference.
    /// - Returns: What was found and repaired, and why it ended early: `ReconciliationError` or `InstallationError`.
    /// - Throws: `ServiceStartError` or `InstallationError` when it could not begin.
    package static func reconcile(
        _ options: ReconciliationOptions,
        configuration: ServiceConfiguration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onProgress: @escaping @Sendable (TaskProgress) -> Void = { _ in },
        onFinding: @escaping @Sendable (ReconciliationFinding) -> Void = { _ in }
    ) async throws -> TaskResult<ReconciliationReport> {
        try await withClients(configuration.postgres) { postgres, curl in
            let photos = PhotoStore(postgres: postgres)
            if case .disk(let path) = configuration.objectStorage, !options.isForced { try requireFolder(path) }
            let objects = try await configuration.objectStorage.open(curl: curl, now: now, logger: logger)
            if case .s3(let bucket) = configuration.objectStorage, !options.isForced {
                try await requireBucket(bucket, objects: objects, photos: photos)
            }
            let sweeper = PhotoSweeper(photos: photos, objects: objects, now: now, logger: logger)
            let reconcile = ReconcilePhotos(
                photos: photos,
                objects: objects,
                sweeper: sweeper,
                options: options,
                now: now,
                onProgress: onProgress,
                onFinding: onFinding
            )
            return await TaskResult(ReconciliationReport()) { try await reconcile(into: &$0) }
        }
    }

    /// A missing bucket counts as empty.
    ///
    /// But if there are photos, its name must be wrong.
    private static func requireBucket(
        _ bucket: ServiceConfiguration.Bucket,
        objects: any ObjectStore,
        photos: PhotoStore
    ) async throws {
        // Asked before the bucket: the first upload may be making the bucket now.
        let isEmpty = try await photos.isEmpty()
        do {
            try await objects.prepare()
        } catch {
            guard error.isMissingBucket else { throw error }
            guard isEmpty else { throw InstallationError.noBucket(name: bucket.configuration.bucket) }
        }
    }
}
