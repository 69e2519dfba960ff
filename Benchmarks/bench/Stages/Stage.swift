import EmbeddedPostgres
import Foundation

/// The servers of a run: a database with data, two processes of the service, and the servers for photos.
struct Stage: Sendable {
    /// A folder that is deleted at the end.
    let folder: URL
    let databaseURL: String
    let serverVersion: String
    let service: RunningServer
    /// Another process on the same database.
    let otherService: RunningServer
    let photos: PhotoStage

    /// Sets everything up, runs `body`, and ends everything in any case.
    static func with<Result: Sendable>(_ body: (Stage) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "selfie-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await withDatabase(in: folder) { databaseURL in
            let objects = folder.appending(path: "objects")
            let store = ["OBJECTS_PATH": objects.path]
            return try await Service.with(databaseURL: databaseURL, store: store) { service in
                try await Service.signUp(at: service.origin)
                let version = try await BenchData.serverVersion(databaseURL: databaseURL)
                return try await Service.with(databaseURL: databaseURL, store: store) { otherService in
                    try await PhotoStage.with(
                        databaseURL: databaseURL,
                        diskService: service,
                        objects: objects,
                        in: folder
                    ) { photos in
                        try await body(
                            Stage(
                                folder: folder,
                                databaseURL: databaseURL,
                                serverVersion: version,
                                service: service,
                                otherService: otherService,
                                photos: photos
                            )
                        )
                    }
                }
            }
        }
    }

    private static func withDatabase<Result: Sendable>(
        in folder: URL,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        say("Starting PostgreSQL and making the data.")
        let postgres = EmbeddedPostgres(
            directory: folder.appending(path: "postgres").path,
            name: "selfie",
            // No checkpoint during a measurement.
            settings: ["max_connections": "200", "max_wal_size": "16GB", "checkpoint_timeout": "1h"],
            notice: { say($0) }
        )
        let url = try await postgres.start()
        do {
            try await BenchData.make(databaseURL: url)
            let result = try await body(url)
            try await postgres.stop()
            return result
        } catch {
            try? await postgres.stop()
            throw error
        }
    }
}
