import AESCrypt
import DatabaseTestSupport
import Foundation
import HTTPConnection
import Logging
import NIOCore
package import Postgres
package import SelfieApp
import SelfieConfiguration
import ServiceLifecycle
import Synchronization
package import TestSupport

/// A running service for a test: in this process, on a port of its own, with a database and a store of its own.
package struct TestService: Sendable {
    package static let apiName = "test-app"
    package static let apiPassword = "p4ssw0rd"
    /// The lowest cost that there is, where the service would take none below 10: hashes take a millisecond.
    package static let passwordHashCost = 4

    /// The port that the service listens on.
    package let port: Int
    /// Straight to the service's database.
    package let postgres: PostgresClient
    /// The database's URL.
    package let databaseURL: String
    /// The objects, whichever store they are in.
    package let objects: TestObjects
    /// The service's time, which a test may set forward: noon, or the present for a bucket, whose server checks it.
    package let clock: TestClock
    /// All that the service logged.
    package let log: TestLog
    /// The mails that went out.
    package let mails: TestMails
    /// What the log must not hold.
    package let secrets: UsedSecrets
    /// Triggers the service's graceful shutdown, without waiting for it.
    package let beginShutdown: @Sendable () async -> Void

    package var origin: String { "http://127.0.0.1:\(port)" }

    /// Encrypts as clients do.
    package static func encrypt(_ password: String) throws -> String {
        try AESCrypt(passphrase: apiPassword).encrypt(Array(password.utf8))
    }

    /// Runs a body with a service.
    ///
    /// - Parameters:
    ///   - store: Where photos are kept.
    ///   - settings: Configuration keys beside those that are needed.
    ///   - sendsMails: Whether mails go out: to `SMTP_URL`, or into a folder.
    ///   - isPatient: Whether it waits longer for a database on a busy machine than it usually would.
    ///   - adjust: Changes the service before it starts.
    ///   - body: Uses the service.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the service from starting.
    package static func run<Result: Sendable>(
        store: TestStore = .disk,
        settings: [String: String] = [:],
        sendsMails: Bool = true,
        isPatient: Bool = true,
        adjust: @Sendable (inout SelfieService) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Result
    ) async throws -> Result {
        try await TestCluster.withDatabase { databaseURL in
            try await run(
                databaseURL: databaseURL,
                store: store,
                settings: settings,
                sendsMails: sendsMails,
                isPatient: isPatient,
                adjust: adjust,
                body
            )
        }
    }

    /// Runs a body with a service on a database that is there already.
    ///
    /// - Parameters:
    ///   - databaseURL: The database, migrated.
    ///   - store: Where photos are kept.
    ///   - settings: Configuration keys beside those that are needed.
    ///   - sendsMails: Whether mails go out: to `SMTP_URL`, or into a folder.
    ///   - isPatient: Whether it waits longer for a database on a busy machine than it usually would.
    ///   - adjust: Changes the service before it starts.
    ///   - body: Uses the service.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the service from starting.
    package static func run<Result: Sendable>(
        databaseURL: String,
        store: TestStore = .disk,
        settings: [String: String] = [:],
        sendsMails: Bool = true,
        isPatient: Bool = true,
        adjust: @Sendable (inout SelfieService) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Result
    ) async throws -> Result {
        try await TestObjects.with(store) { objects in
            let values = TestPooler.settings(
                self.settings(databaseURL: databaseURL, objects: objects).merging(settings) { $1 }
            )
            let mails = TestMails()
            defer { mails.remove() }
            var configuration = try ServiceConfiguration(
                from: ConfigurationSource(values: values),
                outbox: sendsMails && values["SMTP_URL"] == nil ? mails.folder.path : nil
            )
            if isPatient { configuration.postgres.waitPatiently() }
            let clock = values["S3_BUCKET_NAME"] == nil ? TestClock.atNoon() : TestClock()
            let log = TestLog()
            let (ports, portContinuation) = AsyncStream.makeStream(of: Int.self)
            var service = SelfieService(
                configuration: configuration,
                hostname: "127.0.0.1",
                port: 0,
                logger: log.logger(level: configuration.logLevel),
                onRunning: { portContinuation.yield($0) }
            )
            service.now = { clock.now }
            service.announceDelivery = { mails.announce($0) }
            // Nothing that a busy machine takes long for is to be timed out.
            service.limits.answerTimeout = .hours(1)
            if settings["PASSWORD_HASH_COST"] == nil { service.passwordHashCost = passwordHashCost }
            adjust(&service)
            let group = ServiceGroup(
                configuration: .init(services: [service], logger: log.logger(level: .error))
            )
            return try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    defer { portContinuation.finish() }
                    try await group.run()
                }
                guard let port = await ports.first(where: { _ in true }) else {
                    try await tasks.waitForAll()
                    throw TestServiceError.notStarted
                }
                let postgres = PostgresClient(configuration: try .direct(url: databaseURL))
                let test = TestService(
                    port: port,
                    postgres: postgres,
                    databaseURL: databaseURL,
                    objects: objects,
                    clock: clock,
                    log: log,
                    mails: mails,
                    secrets: UsedSecrets(Self.secrets(of: values)),
                    beginShutdown: { await group.triggerGracefulShutdown() }
                )
                let result: Swift.Result<Result, any Error>
                do {
                    result = .success(try await body(test))
                } catch {
                    result = .failure(error)
                }
                await postgres.close()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                test.secrets.expectNone(in: log.text)
                return try result.get()
            }
        }
    }

    /// The values of settings that must be seen nowhere.
    static func secrets(of settings: [String: String]) -> [String] {
        let password = settings["DATABASE_URL"].flatMap { URL(string: $0)?.password }
        return ["API_AUTH_PASSWORD", "SECRET_KEY_BASE", "AWS_SECRET_ACCESS_KEY", "SMTP_URL"].compactMap { settings[$0] }
            + [password].compactMap(\.self)
    }

    /// The configuration of a service for tests.
    ///
    /// - Parameters:
    ///   - databaseURL: The database.
    ///   - objects: The store.
    /// - Returns: Values by key.
    package static func settings(databaseURL: String, objects: TestObjects) -> [String: String] {
        [
            "DATABASE_URL": databaseURL,
            "API_AUTH_NAME": apiName,
            "API_AUTH_PASSWORD": apiPassword,
            "SECRET_KEY_BASE": String(repeating: "secret-key-base-", count: 4),
            "PASSWORD_HASH_COST": "10",
            "GALLERY": "true", "DIRECTORY": "members", "DREAMFACTORY": "true",
            // Whatever a test does, it does from one address; those about limits turn them on.
            "RATE_LIMITS": "off",
            // Tests of small pictures turn them on.
            "RENDITIONS_AT_ONCE": "0",
        ].merging(objects.settings) { $1 }
    }
}

package enum TestServiceError: Error {
    case notStarted
}
