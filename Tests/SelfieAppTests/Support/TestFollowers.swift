import DatabaseTestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import Postgres
@testable import SelfieAccounts
@testable import SelfieRecords

extension FollowChanges {
    /// A client that asks for the next event when a test wants it to.
    ///
    /// - Parameters:
    ///   - member: Whose client it is.
    ///   - start: Where it begins.
    ///   - limit: The most changes at once.
    ///   - lifetime: How long it is followed.
    /// - Returns: The client.
    /// - Throws: What goes wrong.
    func follower(
        of member: TestMember,
        from start: ChangeQuery.Start = .beginning,
        limit: Int = 1,
        for lifetime: Duration = .seconds(600)
    ) async throws -> ChangeFollower {
        let session = try #require(try await SessionStore(postgres: store.postgres).find(token: member.token))
        let query = ChangeQuery(collections: nil, limit: limit, maxBytes: ChangeQuery.maxBatchBytes)
        return self(query, from: start, of: session.userID, session: session, for: lifetime)
    }

    /// Waits until its readers are woken by notifications.
    func waitUntilItListens() async throws {
        let notifier = ChangeNotifier(postgres: store.postgres)
        let listener = ChangeListener(ChangeReader(userID: 0, sessionID: nil))
        hub.add(listener)
        try await poll("it listens") {
            notifier.notify([.user(0)])
            return listener.news.needsRead
        }
        hub.remove(listener)
    }
}

extension ChangeFollower {
    /// The next event that is no silence.
    func nextEvent() async throws -> Event {
        while true {
            let event = try await next()
            if case .nothing = event { continue }
            return event
        }
    }

    /// The changes that come next.
    func nextChanges() async throws -> [Change] {
        guard case .changes(let batch) = try await nextEvent() else { throw Unexpected(description: "no change") }
        return batch.changes
    }
}

extension TestService {
    /// Runs a body with two clients of a member, who have all that is there, and with what wakes them.
    ///
    /// - Parameters:
    ///   - limit: The most changes at once.
    ///   - pipelineDepth: How many statements of the clients may be under way on one connection.
    ///   - body: What to do with them.
    /// - Throws: What goes wrong, or what `body` throws.
    static func runWithFollowers(
        limit: Int = 1,
        pipelineDepth: Int = 16,
        _ body:
            @Sendable (TestService, FollowChanges, _ owner: TestMember, _ ada: TestMember, [ChangeFollower])
            async throws -> Void
    ) async throws {
        try await runWithSchema { service in
            let owner = try await service.addMember("owner", role: "team")
            let ada = try await service.addMember("ada", role: "team")
            var configuration = try PostgresConfiguration.patient(url: service.databaseURL)
            configuration.pool.pipelineDepth = pipelineDepth
            try await PostgresClient.withClient(configuration: configuration) { postgres in
                let follow = FollowChanges(postgres: postgres)
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { await follow.hub.run() }
                    var followers: [ChangeFollower] = []
                    for _ in 0..<2 {
                        let follower = try await follow.follower(of: ada, limit: limit)
                        guard case .synced = try await follower.nextEvent() else {
                            throw Unexpected(description: "not synced")
                        }
                        followers.append(follower)
                    }
                    try await follow.waitUntilItListens()
                    try await body(service, follow, owner, ada, followers)
                    tasks.cancelAll()
                }
            }
        }
    }
}

/// A follower got something else.
struct Unexpected: Error, CustomStringConvertible {
    let description: String
}
