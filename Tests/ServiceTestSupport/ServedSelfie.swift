import DatabaseTestSupport
package import Foundation
package import Postgres
import ServerProcesses
import TestSupport

/// `selfie serve` as a process of its own, and what a test does with it.
package struct ServedSelfie: Sendable {
    package let process: SelfieProcess
    /// For calls to it; its clock, log and shutdown are not connected.
    package let service: TestService

    /// Starts the executable and waits until it listens.
    ///
    /// - Parameters:
    ///   - databaseURL: The database.
    ///   - objects: The store.
    ///   - settings: Configuration keys beside those that are needed.
    ///   - directory: The folder to run it in; by default a new one, in which no `.env` can lie.
    ///   - postgres: Straight to the database.
    /// - Returns: The running service; end it with a signal.
    /// - Throws: `SelfieProcessError` when it does not come up.
    package static func start(
        databaseURL: String,
        objects: TestObjects,
        settings: [String: String] = [:],
        directory: URL? = nil,
        postgres: PostgresClient
    ) async throws -> ServedSelfie {
        let process = try SelfieProcess(
            ["serve", "--hostname", "127.0.0.1", "--port", "0", "--migrations", migrationsPath],
            environment: TestService.settings(databaseURL: databaseURL, objects: objects).merging(settings) { $1 },
            directory: directory
        )
        let port = try await process.waitForOutput(#"listening on 127\.0\.0\.1:(\d+)"#)
        let service = attach(port: Int(port) ?? 0, databaseURL: databaseURL, objects: objects, postgres: postgres)
        return ServedSelfie(process: process, service: service)
    }

    /// Calls to a service that runs already; its clock, log and shutdown are not connected.
    package static func attach(
        port: Int,
        databaseURL: String,
        objects: TestObjects,
        postgres: PostgresClient
    ) -> TestService {
        TestService(
            port: port,
            postgres: postgres,
            databaseURL: databaseURL,
            objects: objects,
            clock: TestClock(),
            log: TestLog(),
            mails: TestMails(),
            secrets: UsedSecrets(
                TestService.secrets(of: TestService.settings(databaseURL: databaseURL, objects: objects))
            ),
            beginShutdown: {}
        )
    }

    /// Runs a body with a running service on a database and a store of its own, and ends it if it still runs.
    ///
    /// - Parameters:
    ///   - store: Where photos are kept.
    ///   - settings: Configuration keys beside those that are needed.
    ///   - body: Uses the service.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or `SelfieProcessError`.
    package static func run<Result>(
        store: TestStore = .disk,
        settings: [String: String] = [:],
        _ body: (ServedSelfie) async throws -> Result
    ) async throws -> Result {
        try await TestCluster.withDatabase { databaseURL in
            try await withObjects(store) { objects in
                try await TestCluster.withClient(databaseURL) { postgres in
                    let served = try await start(
                        databaseURL: databaseURL,
                        objects: objects,
                        settings: settings,
                        postgres: postgres
                    )
                    let result = try await body(served)
                    served.service.secrets.expectNone(in: served.process.output)
                    return result
                }
            }
        }
    }

    /// Runs a body that starts processes on one database and one store.
    ///
    /// - Parameters:
    ///   - settings: Configuration keys beside those that are needed.
    ///   - body: Gets what starts one, and a client of the database.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or `SelfieProcessError`.
    package static func runSeveral<Result>(
        settings: [String: String],
        _ body: (_ start: () async throws -> ServedSelfie, _ postgres: PostgresClient) async throws -> Result
    ) async throws -> Result {
        try await TestCluster.withDatabase { url in
            try await withObjects(.disk) { objects in
                try await TestCluster.withClient(url) { postgres in
                    try await body(
                        { try await start(databaseURL: url, objects: objects, settings: settings, postgres: postgres) },
                        postgres
                    )
                }
            }
        }
    }

    /// Where the project's migrations are.
    package static var migrationsPath: String { ProjectFolder.root.appending(path: "migrations").path }

    /// Runs a body with a store.
    package static func withObjects<Result>(
        _ store: TestStore,
        _ body: (TestObjects) async throws -> Result
    ) async throws -> Result {
        try await TestObjects.with(store, body)
    }
}
