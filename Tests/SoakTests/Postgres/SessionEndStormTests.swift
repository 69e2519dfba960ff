import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// A failover, an operator or a pooler may end any session at any time.
@Suite("A storm of ended sessions", .serialized, .timeLimit(.minutes(5)))
struct SessionEndStormTests {
    private static let userCount = 40
    private static let duration: Duration = .seconds(40)

    @Test(
        "Sessions and statements of 40 users end at random for 40 s: only 200, 304, 401 and 503, and no photo is lost"
    )
    func storm() async throws {
        try await TestCluster.withEmptyDatabase { adminURL in
            try await TestService.run(settings: ["UPLOADS_AT_ONCE_PER_USER_MAX": "4"]) { service in
                var users: [User] = []
                for number in 0..<Self.userCount {
                    let token = try await service.makeToken(email: "user\(number)@example.com")
                    users.append(User(number: number, token: token, service: service))
                }
                let end = ContinuousClock.now + Self.duration
                let ended = try await withThrowingTaskGroup(of: Int.self) { group in
                    group.addTask { try await Self.endSessions(of: service, from: adminURL, until: end) }
                    for user in users {
                        group.addTask {
                            try await user.run(until: end)
                            return 0
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(ended > 300)
                let statuses = users.reduce(into: [Int: Int]()) { $0.merge($1.statuses, uniquingKeysWith: +) }
                print("sessions and statements ended: \(ended); answers: \(statuses)")
                #expect(Set(statuses.keys).isSubset(of: [200, 304, 401, 503]), "\(statuses)")
                #expect(statuses[200, default: 0] > 1_000)
                for user in users { try await user.checkAtEnd() }
            }
        }
    }

    /// Ends sessions, or what they are doing, from another database.
    private static func endSessions(
        of service: TestService,
        from adminURL: String,
        until end: ContinuousClock.Instant
    ) async throws -> Int {
        let name = try #require(URL(string: service.databaseURL)?.lastPathComponent)
        return try await TestCluster.withClient(adminURL) { admin in
            var count = 0
            while ContinuousClock.now < end {
                let rows = try await admin.read(
                    """
                    SELECT CASE WHEN random() < 0.5 THEN pg_terminate_backend(pid) ELSE pg_cancel_backend(pid) END AS done
                    FROM pg_stat_activity WHERE datname = \(name) ORDER BY random() LIMIT 2
                    """
                )
                count += rows.count
                try await Task.sleep(for: .milliseconds(Int.random(in: 5...60)))
            }
            return count
        }
    }
}

/// A user who lists, uploads, looks at and deletes photos, and knows what must be there.
private final class User: Sendable {
    private let number: Int
    private let token: String
    private let service: TestService
    private let state = Mutex(State())

    private struct State {
        var statuses: [Int: Int] = [:]
        /// Uploads that were answered 200, and never touched again.
        var kept: Set<String> = []
        var deleted: Set<String> = []
        var urls: [String] = []
        var tag: String?
    }

    var statuses: [Int: Int] { state.withLock(\.statuses) }

    private var title: String { "of user \(number)" }

    init(number: Int, token: String, service: TestService) {
        self.number = number
        self.token = token
        self.service = service
    }

    func run(until end: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < end {
            let status = try await call()
            state.withLock { $0.statuses[status, default: 0] += 1 }
        }
    }

    /// - Returns: The status.
    private func call() async throws -> Int {
        switch Int.random(in: 0..<10) {
        case 0: return try await upload()
        case 1: return try await delete()
        case 2:
            guard let url = state.withLock({ $0.urls.randomElement() }) else { return try await upload() }
            return try await service.send("GET", url).status
        case 3:
            // An unknown token, which is looked up each time. The only one that may be refused.
            let status = try await service.list(token: "\(token.dropLast(4))none").status
            #expect(status != 200)
            return status
        default:
            let status = try await list().status
            #expect(status != 401)
            return status
        }
    }

    private func upload() async throws -> Int {
        let answer = try await service.upload(TestImage.png(bytes: 5_000), token: token, title: title)
        if answer.status == 200, let id = answer.json["random_id"] as? String {
            let url = answer.json["image_url"] as? String
            state.withLock { state in
                state.kept.insert(id)
                state.urls = (state.urls + [url].compactMap(\.self)).suffix(1)
            }
        }
        return answer.status
    }

    private func delete() async throws -> Int {
        let id = state.withLock { state -> String? in
            // The one whose URL is looked at stays.
            guard state.kept.count > 3,
                let id = state.kept.first(where: { id in
                    !state.urls.contains { $0.contains(id) }
                })
            else { return nil }
            return state.kept.remove(id)
        }
        guard let id else { return try await upload() }
        let answer = try await service.delete(id, token: token)
        if answer.status == 200 { state.withLock { _ = $0.deleted.insert(id) } }
        return answer.status
    }

    @discardableResult
    private func list() async throws -> HTTPAnswer {
        let tag = state.withLock(\.tag)
        let answer = try await service.send(
            "GET",
            "/api/get_photos",
            headers: [("Authorization", "Token token=\(token)")] + (tag.map { [("If-None-Match", $0)] } ?? [])
        )
        if answer.status == 200 {
            let titles = try #require(answer.jsonArray).compactMap { $0["title"] as? String }
            #expect(titles.allSatisfy { $0 == title }, "somebody else's photo")
            state.withLock { $0.tag = answer.headers["etag"] }
        }
        return answer
    }

    /// What was stored is there, and what was deleted is not.
    func checkAtEnd() async throws {
        state.withLock { $0.tag = nil }
        let photos = try #require(try await list().jsonArray)
        let ids = Set(photos.compactMap { $0["random_id"] as? String })
        let (kept, deleted) = state.withLock { ($0.kept, $0.deleted) }
        #expect(kept.isSubset(of: ids), "a photo is lost")
        #expect(ids.isDisjoint(with: deleted), "a deleted photo is there")
    }
}
