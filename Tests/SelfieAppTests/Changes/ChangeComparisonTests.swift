import FoundationEssentials
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieRecords

@Suite("Comparisons find changes without a notification", .timeLimit(.minutes(1)))
struct ChangeComparisonTests {
    @Test("All readers are compared, however many, and only those that missed something are woken")
    func parts() async throws {
        try await TestService.runWithSchema { service in
            let follow = FollowChanges(postgres: service.postgres)
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            var readers: [(ChangeListener, TestMember)] = []
            for _ in 0..<300 {
                for member in [ada, bob] { readers.append((try await Self.reader(member, follow), member)) }
            }
            try await follow.hub.compareAll()
            #expect(readers.allSatisfy { $0.0.news == ChangeListener.News() })
            try await Self.change(ada, service.postgres)
            try await follow.hub.compareAll()
            for (listener, member) in readers {
                let news = listener.news
                #expect(!news.needsRead && news.changed.count == (member.userID == ada.userID ? 1 : 0))
            }
        }
    }

    @Test(
        "When everything may have changed, all are compared within a second, and soon again if that fails",
        arguments: [false, true]
    )
    func everything(fails: Bool) async throws {
        try await Self.runComparingHardlyEver { service, follow, ada in
            let reader = try await Self.reader(ada, follow)
            // The reader's new streams have been compared.
            try await Task.sleep(for: .milliseconds(200))
            if fails { try await Self.breakComparisons(service.postgres) }
            try await Self.change(ada, service.postgres)
            await ChangeNotifier(postgres: service.postgres).notifyOfEverything()
            if fails {
                try await Task.sleep(for: .seconds(1.5))
                try await Self.mendComparisons(service.postgres)
            }
            await reader.wait(until: .now + .seconds(30))
            #expect(reader.news.changed.count == 1)
        }
    }

    @Test("Readers are compared again and again, also new ones, and soon after a failed comparison")
    func again() async throws {
        try await TestService.runWithSchema { service in
            let follow = Self.follow(service.postgres, comparing: 16)
            let hub = follow.hub
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await hub.run() }
                try await follow.waitUntilItListens()
                let first = try await Self.reader(ada, follow)
                for round in 0..<5 {
                    let member = round == 3 ? bob : ada
                    let reader = round == 3 ? try await Self.reader(bob, follow) : first
                    if round == 4 {
                        try await Self.breakComparisons(service.postgres)
                        try await Task.sleep(for: .seconds(1.5))
                    }
                    try await Self.change(member, service.postgres)
                    if round == 4 { try await Self.mendComparisons(service.postgres) }
                    await reader.wait(until: .now + .seconds(30))
                    #expect(reader.news.changed.count == 1 && !reader.news.needsRead)
                    _ = reader.takeAll()
                    hub.move(reader, to: try await Self.batch(member, follow))
                }
                tasks.cancelAll()
            }
        }
    }

    @Test("A reader with a new stream is compared at once: it may have changed before the reader listened to it")
    func newStream() async throws {
        try await Self.runComparingHardlyEver { service, follow, ada in
            let listener = ChangeListener(ChangeReader(userID: ada.userID, sessionID: nil))
            follow.hub.add(listener)
            let batch = try await Self.batch(ada, follow)
            try await Self.change(ada, service.postgres)
            follow.hub.move(listener, to: batch)
            await listener.wait(until: .now + .seconds(30))
            #expect(listener.news.changed.count == 1)
        }
    }

    @Test("A reader with another role than before is woken, and so is one whose session is over")
    func rolesAndSessions() async throws {
        try await TestService.runWithSchema { service in
            let follow = FollowChanges(postgres: service.postgres)
            let ada = try await service.addMember("ada", role: "team")
            let reader = try await Self.reader(ada, follow)
            try await follow.hub.compareAll()
            #expect(!reader.news.needsRead)
            try await service.postgres.write(
                "UPDATE role_members SET role_id = (SELECT id FROM roles WHERE name = 'leads')"
            )
            try await follow.hub.compareAll()
            #expect(reader.news.needsRead)
            _ = reader.takeAll()
            follow.hub.move(reader, to: try await Self.batch(ada, follow))
            try await follow.hub.compareAll()
            #expect(!reader.news.needsRead)
            try await service.postgres.write(
                "INSERT INTO role_members (role_id, user_id) SELECT id, \(ada.userID) FROM roles WHERE name = 'team'"
            )
            try await follow.hub.compareAll()
            #expect(reader.news.needsRead)
            _ = reader.takeAll()
            follow.hub.move(reader, to: try await Self.batch(ada, follow))
            #expect(reader.position?.access.roleStreams.count == 2)
            try await follow.hub.compareAll()
            #expect(!reader.news.needsRead)
            // This one has read nothing yet.
            let ended = ChangeListener(ChangeReader(userID: ada.userID, sessionID: 1_000_000))
            let again = Self.follow(service.postgres, comparing: 16)
            again.hub.add(ended)
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await again.hub.run() }
                await ended.wait(until: .now + .seconds(30))
                #expect(ended.news.needsRead)
                tasks.cancelAll()
            }
        }
    }

    @Test("The cache of a stream is read again when a comparison finds a change")
    func sharedStream() async throws {
        try await TestService.runWithSchema { service in
            let (owner, ada) = (try await service.addMember("owner"), try await service.addMember("ada"))
            // There is no receiver of notifications.
            let follow = FollowChanges(postgres: service.postgres)
            let follower = try await follow.follower(of: ada)
            guard case .synced = try await follower.nextEvent() else { throw Unexpected(description: "not synced") }
            for id in ["a", "b", "c"] {
                try await service.put("news/\(id)", as: owner, #"{"data":{"title":"t"}}"#)
                try await follow.hub.compareAll()
                #expect(try await follower.nextChanges().map(\.id) == [id])
            }
        }
    }

    /// Compares some of 400 groups of readers every 20 ms.
    private static func follow(_ postgres: PostgresClient, comparing groupCount: Int) -> FollowChanges {
        let store = FollowChanges(postgres: postgres).store
        let hub = ChangeHub(store: store, now: { Date() }, comparedGroups: groupCount)
        return FollowChanges(store: store, hub: hub, uses: nil, now: { Date() })
    }

    /// Has all comparisons fail, as an outage does.
    private static func breakComparisons(_ postgres: PostgresClient) async throws {
        try await postgres.withConnection { connection in
            try await connection.execute(
                script: """
                    BEGIN;
                    ALTER TABLE role_members RENAME TO held_members;
                    CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS
                        'BEGIN RAISE EXCEPTION ''down'' USING ERRCODE = ''cannot_connect_now''; END';
                    CREATE VIEW role_members AS SELECT 0 AS role_id, 0 AS user_id, now() AS added_at WHERE fail();
                    COMMIT;
                    """
            )
        }
    }

    private static func mendComparisons(_ postgres: PostgresClient) async throws {
        try await postgres.withConnection { connection in
            try await connection.execute(
                script: "BEGIN; DROP VIEW role_members; ALTER TABLE held_members RENAME TO role_members; COMMIT"
            )
        }
    }

    /// Runs a body with a member, and a hub that receives notifications and compares no readers by itself.
    private static func runComparingHardlyEver(
        _ body: @Sendable (TestService, FollowChanges, _ ada: TestMember) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema { service in
            let follow = follow(service.postgres, comparing: 0)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await follow.hub.run() }
                try await follow.waitUntilItListens()
                try await body(service, follow, try await service.addMember("ada"))
                tasks.cancelAll()
            }
        }
    }

    private static func batch(_ member: TestMember, _ follow: FollowChanges) async throws -> ChangeBatch {
        let reader = ChangeReader(userID: member.userID, sessionID: nil)
        return try await follow.store.read(ChangeQuery(collections: nil), from: .now, by: reader)
    }

    private static func reader(_ member: TestMember, _ follow: FollowChanges) async throws -> ChangeListener {
        let listener = ChangeListener(ChangeReader(userID: member.userID, sessionID: nil))
        follow.hub.add(listener)
        follow.hub.move(listener, to: try await batch(member, follow))
        return listener
    }

    /// Changes a member's stream without a notification.
    private static func change(_ member: TestMember, _ postgres: PostgresClient) async throws {
        try await postgres.write("UPDATE streams SET seq = seq + 1 WHERE user_id = \(member.userID)")
    }
}
