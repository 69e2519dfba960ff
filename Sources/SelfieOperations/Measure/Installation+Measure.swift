package import FoundationEssentials
package import Logging
import ObjectStore
package import SelfieConfiguration
package import SelfiePhotos

extension Installation {
    /// Measures all photos whose size is not known, while services run.
    ///
    /// - Parameters:
    ///   - configuration: The service's.
    ///   - logger: Gets a line for each failure on the way.
    ///   - now: The time.
    ///   - onProgress: Called with the progress.
    ///   - onOutcome: Called with the outcome of each photo, by its `random_id`.
    /// - Returns: How many photos had each outcome, and why it ended early: `InstallationError`.
    /// - Throws: `ServiceStartError` or `InstallationError` when it could not begin.
    package static func measure(
        configuration: ServiceConfiguration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onProgress: @escaping @Sendable (TaskProgress) -> Void = { _ in },
        onOutcome: @escaping @Sendable (MeasurePhoto.Outcome, String) -> Void = { _, _ in }
    ) async throws -> TaskResult<OutcomeCounts<MeasurePhoto.Outcome>> {
        try await withClients(configuration.postgres) { postgres, curl in
            if case .disk(let path) = configuration.objectStorage { try requireFolder(path) }
            let photos = PhotoStore(postgres: postgres)
            let objects = try await configuration.objectStorage.open(curl: curl, now: now, logger: logger)
            let measure = MeasurePhoto(photos: photos, objects: objects)
            let pass = PhotoPass<MeasurePhoto.Outcome>(
                task: "Measuring photos",
                count: photos.unmeasuredCount,
                page: photos.unmeasured,
                work: { try await measure($0) },
                onProgress: onProgress,
                onOutcome: onOutcome
            )
            return await TaskResult(OutcomeCounts<MeasurePhoto.Outcome>()) { try await pass(into: &$0) }
        }
    }
}
