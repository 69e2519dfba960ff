import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import PhotoService

@Suite("The database is killed under load", .timeLimit(.minutes(3)))
struct RestartTests {
    private static let userCount = 20
    private static let photosPerUser = 3

    /// What the load has seen so far.
    private final class Tally: Sendable {
        private let answers = Atomic(0)
        private let refusals = Atomic(0)
        private let isOver = Atomic(false)

        var isDone: Bool { isOver.load(ordering: .relaxed) }
        var answered: Int { answers.load(ordering: .relaxed) }
        var refused: Int { refusals.load(ordering: .relaxed) }

        func finish() { isOver.store(true, ordering: .relaxed) }
        func countAnswer() { answers.add(1, ordering: .relaxed) }
        func countRefusal() { refusals.add(1, ordering: .relaxed) }
    }

    /// Makes users with a session and photos each, whose ids tell whose they are.
    private func addUsers(url: String) async throws {
        try await PostgresClient.withClient(configuration: .patient(url: url)) { client in
            for user in 1...Self.userCount {
                try await client.execute(
                    """
                    INSERT INTO users (id, first_name, last_name, email, password_hash)
                    VALUES (\(user), 'Ada', 'Lovelace', \("user\(user)@example.com"), 'none')
                    """
                )
                try await client.execute(
                    """
                    INSERT INTO sessions (user_id, token_digest, expires_at)
                    VALUES (\(user), \(IssuedToken.digest(of: "token-\(user)")), \(Date.now + 86_400))
                    """
                )
                for photo in 1...Self.photosPerUser {
                    try await client.execute(
                        """
                        INSERT INTO photos (user_id, name, title, random_id, state)
                        VALUES (\(user), 'a.jpg', 'A title', \("user-\(user)-photo-\(photo)"), 'ready')
                        """
                    )
                }
            }
        }
    }

    private func expectAnswer(_ service: TestService, user: Int, _ tally: Tally) async throws {
        // Every tenth asks with a token that nobody has.
        let isKnown = user % 10 != 0
        let answer = try await service.list(token: isKnown ? "token-\(user)" : "nobody's")
        switch answer.status {
        case 200:
            let ids = answer.jsonArray?.compactMap { $0["random_id"] as? String }
            #expect(ids == (1...Self.photosPerUser).map { "user-\(user)-photo-\($0)" })
            #expect(isKnown)
            tally.countAnswer()
        case 401: #expect(!isKnown)
        case 503:
            #expect(answer.json["status"] as? Int == 503)
            tally.countRefusal()
        default: Issue.record("\(answer.status): \(answer.text)")
        }
    }

    /// A write beside the lists, which is refused: the e-mail is taken.
    private func expectRefusedSignUp(_ service: TestService, _ tally: Tally) async throws {
        let answer = try await service.signUp(email: "user1@example.com")
        #expect([400, 503].contains(answer.status), "\(answer.text)")
    }

    /// Statements that share connections, each seventh of which fails, and undoes those beside it.
    private func expectNumbers(_ client: PostgresClient, _ tally: Tally) async throws {
        var number = 0
        while !tally.isDone {
            number += 1
            do throws(PostgresError) {
                let row = try await client.query("SELECT \(number) AS number, 1 / (\(number) % 7) AS seventh")[0]
                let answer: Int = try row.decode("number")
                #expect(answer == number && number % 7 != 0)
            } catch {
                let isByZero = number % 7 == 0 && error.sqlState?.code == "22012"
                #expect(error.isUnavailable || isByZero, "\(error)")
            }
        }
    }

    @Test("Whoever asks meanwhile gets 503 in JSON, and never somebody else's photos; then all is as before")
    func killedTwice() async throws {
        try await OwnCluster.use { cluster in
            try await addUsers(url: cluster.url)
            try await TestService.run(
                databaseURL: cluster.url,
                adjust: {
                    $0.configuration.postgres.pool.leaseTimeout = .milliseconds(200)
                }
            ) { service in
                let tally = Tally()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<8 {
                        group.addTask {
                            var generator = SplitMix64(seed: UInt64(worker))
                            while !tally.isDone {
                                let user = Int.random(in: 1...Self.userCount, using: &generator)
                                try await expectAnswer(service, user: user, tally)
                            }
                        }
                    }
                    group.addTask {
                        while !tally.isDone { try await expectRefusedSignUp(service, tally) }
                    }
                    group.addTask {
                        let configuration = try PostgresConfiguration(url: cluster.url, connectionsMax: 2)
                        try await PostgresClient.withClient(configuration: configuration) { client in
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for _ in 0..<4 { group.addTask { try await expectNumbers(client, tally) } }
                                try await group.waitForAll()
                            }
                        }
                    }
                    group.addTask {
                        defer { tally.finish() }
                        for _ in 0..<2 {
                            try await expectAnswers(50, tally)
                            let refused = tally.refused
                            try await cluster.killHard()
                            try await poll("somebody is refused") { tally.refused > refused }
                            try await cluster.start()
                        }
                        try await expectAnswers(100, tally)
                    }
                    try await group.waitForAll()
                }
                #expect(try await service.list(token: "token-1").status == 200)
            }
        }
    }

    private func expectAnswers(_ count: Int, _ tally: Tally) async throws {
        let goal = tally.answered + count
        try await poll("\(count) more lists") { tally.answered >= goal }
    }
}
