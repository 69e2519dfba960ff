import ConnectionTestSupport
import Curl
import Foundation
import Logging
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieApp
@testable import SelfieOperations
@testable import SelfiePhotos

extension SelfieService {
    /// Lets statements and callers wait for as long as a test holds them up.
    mutating func waitsPatiently() {
        configuration.postgres.statementTimeout = .seconds(120)
        configuration.postgres.pool.leaseTimeout = .seconds(120)
        configuration.postgres.pool.maxConnections = 40
    }

    /// Computes hashes on so many threads, each of which passes a gate before.
    mutating func computesHashes(threads: Int, permitsPerThread: Int = 100, through gate: ThreadGate) {
        passwordHashing.threadCount = threads
        passwordHashing.waitingPerThread = permitsPerThread - 1
        passwordHashing.waitingPerNetworkAndThread = permitsPerThread
        passwordHashing.waitingPerAccountAndThread = permitsPerThread
        // What is held up must not be late.
        passwordHashing.clock = ManualTime()
        passwordHashing.willCompute = { gate.pass($0) }
    }

    /// Does nothing but answer requests, so that no statement of its own waits for a test's lock.
    mutating func doesNothingByItself() {
        worksInBackground = false
    }
}

/// Two services on one database, each with connections, hashes and a memory of its own, as two processes have them.
enum TwoServices {
    /// Runs a body with both.
    static func run(
        settings: [String: String] = [:],
        adjust: @Sendable (Int, inout SelfieService) -> Void = { _, _ in },
        _ body: @Sendable ([TestService]) async throws -> Void
    ) async throws {
        try await TestService.run(
            settings: settings,
            adjust: { service in
                service.waitsPatiently()
                adjust(0, &service)
            }
        ) { first in
            try await TestService.run(
                databaseURL: first.databaseURL,
                settings: settings,
                adjust: { service in
                    service.waitsPatiently()
                    adjust(1, &service)
                }
            ) { second in try await body([first, second]) }
        }
    }
}

extension TestService {
    /// Waits until so many statements wait for locks in the database.
    func waitForLocks(_ count: Int) async throws {
        try await poll("\(count) statements wait for locks") {
            try await self.count(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            ) == count
        }
    }

    /// Does once what the sweeper does every few seconds.
    func sweep() async throws {
        let values = TestService.settings(databaseURL: databaseURL, objects: objects)
        let configuration = try ServiceConfiguration(from: ConfigurationSource(values: values))
        let logger = log.logger(level: .info)
        let sweeper = PhotoSweeper(
            photos: PhotoStore(postgres: postgres),
            objects: try await configuration.objectStorage.open(
                curl: .shared,
                now: { Date() },
                logger: logger
            ),
            logger: logger
        )
        try await sweeper.sweep()
    }

    /// Disables an account, or enables it again, as the command line does.
    func administer(_ email: String = "ada@example.com", isDisabled: Bool) async throws {
        let hasChanged = try await Administration.with(try PostgresConfiguration(url: databaseURL)) { users in
            isDisabled ? try await users.disable(.email(email)) : try await users.enable(.email(email))
        }
        try #require(hasChanged)
    }

    /// The token of an answer that has one.
    static func token(of answer: HTTPAnswer, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try #require(answer.json["api_authtoken"] as? String, "\(answer.text)", sourceLocation: sourceLocation)
    }

    /// Adds an account whose hash is of an old cost.
    func addUser(email: String, password: String = "my password", cost: Int) async throws {
        let hash = try BCrypt.hash(Array(password.utf8), cost: cost).replacing("$2b$", with: "$2a$")
        try await postgres.write(
            """
            INSERT INTO users (first_name, last_name, email, password_hash)
            VALUES ('Ada', 'Lovelace', \(email), \(hash))
            """
        )
    }
}
