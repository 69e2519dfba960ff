package import FoundationEssentials
package import Logging
import ObjectStore
package import SelfieConfiguration
import SelfiePhotos

extension Installation {
    /// Copies all photos from one store to the other, while services use the first.
    ///
    /// - Parameters:
    ///   - direction: The direction.
    ///   - configuration: The database and both stores.
    ///   - logger: Gets a line for each failure on the way.
    ///   - now: The time.
    ///   - onProgress: Called with the progress.
    ///   - onOutcome: Called with the outcome of each photo, by its `random_id`.
    /// - Returns: How many photos had each outcome, and why it ended early: `InstallationError`.
    /// - Throws: `ServiceStartError` or `InstallationError` when it could not begin.
    package static func copy(
        _ direction: CopyDirection,
        configuration: CopyConfiguration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onProgress: @escaping @Sendable (TaskProgress) -> Void = { _ in },
        onOutcome: @escaping @Sendable (CopyOutcome, String) -> Void = { _, _ in }
    ) async throws -> TaskResult<OutcomeCounts<CopyOutcome>> {
        try await withClients(configuration.postgres) { postgres, curl in
            if direction == .s3 { try requireFolder(configuration.path) }
            let copy = CopyPhotos(
                photos: PhotoStore(postgres: postgres),
                disk: try DiskObjectStore.open(directory: configuration.path),
                bucket: try await configuration.bucket.open(curl: curl, now: now, logger: logger),
                direction: direction,
                onProgress: onProgress,
                onOutcome: onOutcome
            )
            return await TaskResult(OutcomeCounts<CopyOutcome>()) { try await copy(into: &$0) }
        }
    }
}
