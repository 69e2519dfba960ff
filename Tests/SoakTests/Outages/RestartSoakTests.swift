import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import PhotoService

@Suite("The database is killed again and again under load", .timeLimit(.minutes(5)), .serialized)
struct RestartSoakTests {
    private static let userCount = 20
    private static let photosPerUser = 3
    /// How long after its return the database may still be refused to clients.
    private static let recovery: Duration = .seconds(5)

    /// When the database came back last; nil while it is away.
    private final class Uptime: Sendable {
        private let start = Mutex<ContinuousClock.Instant?>(.now)
        private let answers = Atomic(0)
        private let isOver = Atomic(false)

        var isDone: Bool { isOver.load(ordering: .relaxed) }
        var answered: Int { answers.load(ordering: .relaxed) }

        /// Whether a refusal that began at an instant has no excuse.
        func isTooLate(_ instant: ContinuousClock.Instant) -> Bool {
            start.withLock { $0.map { instant > $0 + RestartSoakTests.recovery } ?? false }
        }

        func began() { start.withLock { $0 = .now } }
        func ended() { start.withLock { $0 = nil } }
        func finish() { isOver.store(true, ordering: .relaxed) }
        func count() { answers.add(1, ordering: .relaxed) }
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

    private func expectAnswer(_ service: TestService, user: Int, _ uptime: Uptime) async throws {
        let start = ContinuousClock.now
        // Every tenth asks with a token that nobody has.
        let isKnown = user % 10 != 0
        let answer = try await service.list(token: isKnown ? "token-\(user)" : "nobody's")
        switch answer.status {
        case 200:
            let ids = answer.jsonArray?.compactMap { $0["random_id"] as? String }
            #expect(ids == (1...Self.photosPerUser).map { "user-\(user)-photo-\($0)" })
            #expect(isKnown)
            uptime.count()
        case 401: #expect(!isKnown)
        case 503:
            #expect(answer.json["status"] as? Int == 503)
            #expect(!uptime.isTooLate(start), "refused more than 5 s after the database's return")
        default: Issue.record("\(answer.status): \(answer.text)")
        }
    }

    /// A write beside the lists, which is refused: the e-mail is taken.
    private func expectRefusedSignUp(_ service: TestService, _ uptime: Uptime) async throws {
        let start = ContinuousClock.now
        let answer = try await service.signUp(email: "user1@example.com")
        #expect([400, 503].contains(answer.status), "\(answer.text)")
        if answer.status == 503 { #expect(!uptime.isTooLate(start)) }
    }

    /// Statements that share connections, each seventh of which fails, and undoes those beside it.
    private func expectNumbers(_ client: PostgresClient, _ uptime: Uptime) async throws {
        var number = 0
        while !uptime.isDone {
            number += 1
            let start = ContinuousClock.now
            do throws(PostgresError) {
                let row = try await client.query("SELECT \(number) AS number, 1 / (\(number) % 7) AS seventh")[0]
                let answer: Int = try row.decode("number")
                #expect(answer == number && number % 7 != 0)
            } catch {
                if error.isUnavailable {
                    #expect(!uptime.isTooLate(start), "\(error)")
                } else {
                    #expect(number % 7 == 0 && error.sqlState?.code == "22012", "\(error)")
                }
            }
        }
    }

    @Test("Only 503 in JSON, none once it has been back for 5 s, and never somebody else's photos")
    func killedTenTimes() async throws {
        try await OwnCluster.use { cluster in
            try await addUsers(url: cluster.url)
            try await TestService.run(databaseURL: cluster.url, store: .disk) { service in
                let uptime = Uptime()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<16 {
                        group.addTask {
                            var generator = SplitMix64(seed: UInt64(worker))
                            while !uptime.isDone {
                                let user = Int.random(in: 1...Self.userCount, using: &generator)
                                try await expectAnswer(service, user: user, uptime)
                            }
                        }
                    }
                    group.addTask {
                        while !uptime.isDone { try await expectRefusedSignUp(service, uptime) }
                    }
                    group.addTask {
                        let configuration = try PostgresConfiguration(url: cluster.url, connectionsMax: 2)
                        try await PostgresClient.withClient(configuration: configuration) { client in
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for _ in 0..<8 { group.addTask { try await expectNumbers(client, uptime) } }
                                try await group.waitForAll()
                            }
                        }
                    }
                    for _ in 0..<10 {
                        try await expectAnswers(100, uptime)
                        uptime.ended()
                        try await cluster.killHard()
                        try await cluster.start()
                        uptime.began()
                    }
                    try await expectAnswers(100, uptime)
                    try await Task.sleep(for: Self.recovery)
                    try await expectAnswers(200, uptime)
                    uptime.finish()
                    try await group.waitForAll()
                }
            }
        }
    }

    private func expectAnswers(_ count: Int, _ uptime: Uptime) async throws {
        let goal = uptime.answered + count
        try await poll("\(count) more lists", within: .seconds(20)) { uptime.answered >= goal }
    }
}
