package import FoundationEssentials
package import Logging
import ObjectStore
package import SelfieConfiguration
package import SelfiePhotos

extension Installation {
    /// Removes the metadata of all photos that may have some, while services run.
    ///
    /// - Parameters:
    ///   - isDryRun: Whether to look only.
    ///   - configuration: The service's.
    ///   - logger: Gets a line for each failure on the way.
    ///   - now: The time.
    ///   - onProgress: Called with the progress.
    ///   - onOutcome: Called with the outcome of each photo, by its `random_id`.
    /// - Returns: How many photos had each outcome, and why it ended early: `InstallationError`.
    /// - Throws: `ServiceStartError` or `InstallationError` when it could not begin.
    package static func strip(
        isDryRun: Bool,
        configuration: ServiceConfiguration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onProgress: @escaping @Sendable (TaskProgress) -> Void = { _ in },
        onOutcome: @escaping @Sendable (StripPhoto.Outcome, String) -> Void = { _, _ in }
    ) async throws -> TaskResult<OutcomeCounts<StripPhoto.Outcome>> {
        try await withClients(configuration.postgres) { postgres, curl in
            if case .disk(let path) = configuration.objectStorage { try requireFolder(path) }
            let photos = PhotoStore(postgres: postgres)
            let objects = try await configuration.objectStorage.open(curl: curl, now: now, logger: logger)
            let strip = StripPhoto(photos: photos, objects: objects, isDryRun: isDryRun)
            let pass = PhotoPass<StripPhoto.Outcome>(
                task: "Stripping photos",
                count: photos.unstrippedCount,
                page: photos.unstripped,
                work: { try await strip($0) },
                onProgress: onProgress,
                onOutcome: onOutcome
            )
            return await TaskResult(OutcomeCounts<StripPhoto.Outcome>()) { try await pass(into: &$0) }
        }
    }
}
