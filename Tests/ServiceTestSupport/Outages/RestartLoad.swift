import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import Synchronization
import TestSupport
import Testing

/// Clients that ask without a pause while the database goes away and comes back, and what they have seen so far.
package final class RestartLoad: Sendable {
    private static let userCount = 20
    private static let photosPerUser = 3

    private let service: TestService
    private let recovery: Duration?
    /// When the database came back last; nil while it is away.
    private let start = Mutex<ContinuousClock.Instant?>(.now)
    private let answers = Atomic(0)
    private let refusals = Atomic(0)
    private let isOver = Atomic(false)

    private init(_ service: TestService, recovery: Duration?) {
        self.service = service
        self.recovery = recovery
    }

    private var isDone: Bool { isOver.load(ordering: .relaxed) }
    private var answered: Int { answers.load(ordering: .relaxed) }
    /// How many lists were refused.
    package var refused: Int { refusals.load(ordering: .relaxed) }

    /// The database is about to go away.
    package func databaseEnds() { start.withLock { $0 = nil } }
    /// The database is back.
    package func databaseBegan() { start.withLock { $0 = .now } }

    /// Runs a body beside the load, and ends the load with it.
    ///
    /// - Parameters:
    ///   - service: The service, on a database with ``addUsers(url:)``.
    ///   - readers: How many clients ask for lists.
    ///   - statements: How many statements at a time share connections, past the service.
    ///   - recovery: How long after its return the database may still be refused to clients; nil where time does not
    ///     count.
    ///   - body: Gets the load.
    /// - Throws: What the body throws, or what a connection to the service throws.
    package static func run(
        at service: TestService,
        readers: Int,
        statements: Int,
        recovery: Duration? = nil,
        _ body: @escaping @Sendable (RestartLoad) async throws -> Void
    ) async throws {
        let load = RestartLoad(service, recovery: recovery)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<readers {
                group.addTask {
                    var generator = SplitMix64(seed: UInt64(reader))
                    while !load.isDone {
                        try await load.expectList(user: Int.random(in: 1...userCount, using: &generator))
                    }
                }
            }
            group.addTask {
                while !load.isDone { try await load.expectRefusedSignUp() }
            }
            group.addTask {
                let configuration = try PostgresConfiguration(url: service.databaseURL, maxConnections: 2)
                try await PostgresClient.withClient(configuration: configuration) { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<statements { group.addTask { try await load.expectNumbers(client) } }
                        try await group.waitForAll()
                    }
                }
            }
            group.addTask {
                defer { load.isOver.store(true, ordering: .relaxed) }
                try await body(load)
            }
            try await group.waitForAll()
        }
    }

    /// Makes users with a session and photos each, whose ids identify their users.
    ///
    /// - Parameter url: The database, migrated.
    /// - Throws: `PostgresError`.
    package static func addUsers(url: String) async throws {
        try await PostgresClient.withClient(configuration: .patient(url: url)) { client in
            for user in 1...userCount {
                try await client.write(
                    """
                    INSERT INTO users (id, first_name, last_name, email, password_hash)
                    VALUES (\(user), 'Ada', 'Lovelace', \("user\(user)@example.com"), 'none')
                    """
                )
                try await client.write(
                    """
                    INSERT INTO sessions (user_id, token_digest, expires_at)
                    VALUES (\(user), sha256(convert_to(\("token-\(user)"), 'UTF8')), \(Date.now + 86_400))
                    """
                )
                for photo in 1...photosPerUser {
                    try await client.write(
                        """
                        INSERT INTO photos (user_id, name, title, random_id, state)
                        VALUES (\(user), 'a.jpg', 'A title', \("user-\(user)-photo-\(photo)"), 'ready')
                        """
                    )
                }
            }
        }
    }

    /// Waits until so many more lists were answered.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - timeout: How long to wait.
    /// - Throws: `NotInTime`.
    package func expectAnswers(_ count: Int, within timeout: Duration = .seconds(60)) async throws {
        let goal = answered + count
        try await poll("\(count) more lists", within: timeout) { answered >= goal }
    }

    private func expectList(user: Int) async throws {
        let start = ContinuousClock.now
        // Every tenth asks with an unknown token.
        let isKnown = user % 10 != 0
        let answer = try await service.list(token: isKnown ? "token-\(user)" : "nobody's")
        switch answer.status {
        case 200:
            let ids = answer.jsonArray?.compactMap { $0["random_id"] as? String }
            #expect(ids == (1...Self.photosPerUser).map { "user-\(user)-photo-\($0)" })
            #expect(isKnown)
            answers.add(1, ordering: .relaxed)
        case 401: #expect(!isKnown)
        case 503:
            #expect(answer.json["status"] as? Int == 503)
            expectExcuse(forRefusalFrom: start)
            refusals.add(1, ordering: .relaxed)
        default: Issue.record("\(answer.status): \(answer.text)")
        }
    }

    /// A write beside the lists, which is refused: the e-mail is taken.
    private func expectRefusedSignUp() async throws {
        let start = ContinuousClock.now
        let answer = try await service.signUp(email: "user1@example.com")
        #expect([400, 503].contains(answer.status), "\(answer.text)")
        if answer.status == 503 { expectExcuse(forRefusalFrom: start) }
    }

    /// Statements that share connections, each seventh of which fails, and undoes those beside it.
    private func expectNumbers(_ client: PostgresClient) async throws {
        var number = 0
        while !isDone {
            number += 1
            let start = ContinuousClock.now
            do throws(PostgresError) {
                let row = try await client.read("SELECT \(number) AS number, 1 / (\(number) % 7) AS seventh")[0]
                let answer: Int = try row.decode("number")
                #expect(answer == number && number % 7 != 0)
            } catch {
                if error.isUnavailable {
                    expectExcuse(forRefusalFrom: start, "\(error)")
                } else {
                    #expect(number % 7 == 0 && error.sqlState?.code == "22012", "\(error)")
                }
            }
        }
    }

    /// Expects the database to be away, or to have been back for too short a time, when a refused request began.
    private func expectExcuse(forRefusalFrom instant: ContinuousClock.Instant, _ comment: Comment = "") {
        guard let recovery else { return }
        let isTooLate = start.withLock { $0.map { instant > $0 + recovery } ?? false }
        #expect(!isTooLate, "refused more than \(recovery) after the database's return \(comment)")
    }
}
