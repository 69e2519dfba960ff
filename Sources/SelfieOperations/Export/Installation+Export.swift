package import FoundationEssentials
package import Logging
import ObjectStore
import Postgres
import SelfieAccounts
package import SelfieConfiguration
package import SelfieCore

extension Installation {
    /// Writes all that a user has into a ZIP archive, while services run.
    ///
    /// - Parameters:
    ///   - selector: The user.
    ///   - path: A file that does not exist yet. It has the name only when it is complete.
    ///   - configuration: The service's.
    ///   - logger: Gets a line for each failure on the way.
    ///   - now: The time.
    ///   - onProgress: Called with the progress.
    /// - Returns: How many photos there are.
    /// - Throws: `AdministrationError.noSuchUser`, ``ExportFileError``, `ServiceStartError`, `InstallationError`.
    package static func export(
        _ selector: UserSelector,
        to path: String,
        configuration: ServiceConfiguration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onProgress: (TaskProgress) -> Void = { _ in }
    ) async throws -> ExportReport {
        try await withClients(configuration.postgres) { postgres, curl in
            if case .disk(let path) = configuration.objectStorage { try requireFolder(path) }
            let userID = try await Administration(postgres: postgres).id(of: selector)
            let objects = try await configuration.objectStorage.open(curl: curl, now: now, logger: logger)
            let export = ExportAccount(postgres: postgres, objects: objects)
            let users = UserStore(postgres: postgres)
            let file = try await ExportFile(at: path)
            do {
                _ = try await postgres.withTransaction { connection in
                    try await AuditStore.add(.export, userID: userID, from: nil, on: connection)
                }
                var pieces = export(
                    ofUser: userID,
                    spools: .unshared,
                    maxPhotoBytes: .max,
                    at: now(),
                    check: {
                        guard try await users.find(id: userID) != nil else {
                            throw AdministrationError.noSuchUser(selector)
                        }
                    }
                )
                while let piece = try await pieces.next() {
                    try await file.write(piece)
                    let done = pieces.report.photoCount + pieces.report.missingCount
                    onProgress(TaskProgress(task: "Exporting photos", done: done, total: pieces.totalCount))
                }
                try await file.finish()
                return pieces.report
            } catch {
                await file.remove()
                throw error
            }
        }
    }
}
