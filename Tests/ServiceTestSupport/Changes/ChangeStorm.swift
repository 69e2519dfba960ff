import Concurrency
import ConnectionTestSupport
import Foundation
package import Postgres
import ServerProcesses
import Synchronization
import TestSupport
import Testing

/// Processes on one database, some of which may be gone.
package protocol StormTarget: Sendable {
    /// Calls to any process.
    ///
    /// - Throws: When there is none.
    var any: TestService { get throws }
    /// Straight to the database.
    var postgres: PostgresClient { get }
    /// Takes note of what became of a call.
    func note(_ call: StormCall)
}

extension StormTarget {
    package func note(_ call: StormCall) {}
}

/// Writers and readers of changes at processes that are killed under them, as their database is.
package struct ChangeStorm: Sendable {
    /// How long each writer waits after a write.
    private let pause: Duration
    /// How many changes readers must have received in all.
    private let minChanges: Int

    private final class End: Sendable {
        let isOver = Atomic(false)
    }

    private static let writerCount = 16
    private static let patience: Duration = .seconds(30)

    /// - Parameters:
    ///   - pause: How long each writer waits after a write.
    ///   - minChanges: How many changes readers must have received in all.
    package init(pause: Duration = .zero, minChanges: Int) {
        (self.pause, self.minChanges) = (pause, minChanges)
    }

    /// Runs a storm at two processes, which are killed, as their database is.
    ///
    /// - Parameter seconds: How long it lasts.
    /// - Throws: What goes wrong.
    package static func run(seconds: Int) async throws {
        try await StormServers.with { servers in
            try await servers.any.apply(try TestService.exampleSchema)
            let storm = ChangeStorm(minChanges: 20 * seconds * writerCount / 4)
            try await storm.run(at: servers) { member in try await disturb(servers, member, seconds: seconds) }
        }
    }

    /// Runs writers and readers, and expects that each reader knows what SQL says that it may read.
    ///
    /// SQL must have what the writers were told that is stored.
    ///
    /// - Parameters:
    ///   - servers: The processes, whose database has the documentation's schema.
    ///   - disturb: Disturbs them. They write until it returns. It may take the role from the member that it gets, and
    ///     gives it back.
    /// - Throws: What goes wrong.
    package func run(at servers: some StormTarget, disturb: (TestMember) async throws -> Void) async throws {
        let service = try servers.any
        var members: [TestMember] = []
        for number in 0..<Self.writerCount {
            members.append(try await service.addMember("m\(number)", role: "team"))
        }
        let all = members
        let replicas = all.map { _ in [ChangeReplica(), ChangeReplica()] }
        let end = End()
        let ledger = StormLedger()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (number, member) in all.enumerated() {
                for replica in replicas[number] {
                    tasks.addTask {
                        while !end.isOver.load(ordering: .relaxed) { await Self.follow(servers, member, replica) }
                    }
                }
                tasks.addTask {
                    var writer = StormWriter(member: member, members: all, seed: UInt64(number), ledger: ledger)
                    while !end.isOver.load(ordering: .relaxed) {
                        await writer.write(servers)
                        try await Task.sleep(for: pause)
                    }
                }
            }
            try await disturb(all[Self.writerCount - 1])
            end.isOver.store(true, ordering: .relaxed)
            try await tasks.waitForAll()
        }
        for (member, own) in zip(all, replicas) {
            let expected = try await Self.readable(by: member, servers.postgres)
            for replica in own { try await expect(replica, expected, of: member, servers) }
        }
        let contradictions = ledger.contradictions(try await StormLedger.Stored(servers.postgres))
        #expect(contradictions.isEmpty, "\(contradictions.count): \(contradictions.prefix(10))")
        let changes = replicas.joined().map(\.changeCount).reduce(0, +)
        #expect(changes > minChanges, "\(changes) changes")
        print("\(changes) changes, \(replicas.joined().map(\.resets.count).reduce(0, +)) resets")
    }

    /// Reads on from where it is, and compares.
    private func expect(
        _ replica: ChangeReplica,
        _ expected: [String: Int],
        of member: TestMember,
        _ servers: some StormTarget
    ) async throws {
        let deadline = ContinuousClock.now + Self.patience
        replica.connected()
        while !replica.isSynced, ContinuousClock.now < deadline {
            await Self.follow(servers, member, replica, untilSynced: true)
        }
        let (missing, wrong) = (
            expected.filter { replica.records[$0.key] != $0.value }, replica.records.filter { expected[$0.key] == nil }
        )
        #expect(replica.isSynced)
        #expect(missing.isEmpty && wrong.isEmpty, "\(member.name): \(missing.count) missing, \(wrong.count) too many")
        #expect(replica.repeated.isEmpty, "\(replica.repeated)")
        // Nothing was restored, and a member who keeps the role loses nothing.
        if member.name != "m\(Self.writerCount - 1)" { #expect(replica.resets.isEmpty, "\(replica.resets)") }
    }

    /// Follows for as long as a connection lasts, which is a random time.
    private static func follow(
        _ servers: some StormTarget,
        _ member: TestMember,
        _ replica: ChangeReplica,
        untilSynced: Bool = false
    ) async {
        let lifetime: Duration = untilSynced ? patience : .milliseconds(Int.random(in: 1...3000))
        do {
            let headers = replica.lastID.map { ["Last-Event-ID: \($0)"] } ?? []
            try await race {
                let start = Date()
                try await EventClient.open(try servers.any, as: member, headers: headers) { client in
                    defer {
                        // Most streams end because their client has had enough of them. That is no failure.
                        if let answer = client.answer, let end = client.headTime {
                            servers.note(StormCall(name: "changes stream", start: start, end: end, answer: answer))
                        }
                    }
                    replica.connected()
                    while let event = try await client.next() {
                        if replica.take(event) || untilSynced && replica.isSynced { return }
                    }
                }
            } against: {
                try await Task.sleep(for: lifetime)
                return CancellationError()
            }
        } catch {
            // A process is being started.
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Kills what runs, for as long as the storm lasts.
    private static func disturb(_ servers: StormServers, _ member: TestMember, seconds: Int) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        for step in 0... {
            try await Task.sleep(for: .milliseconds(Int.random(in: 1000...3000)))
            if ContinuousClock.now >= end { return }
            switch step % 4 {
            case 0, 3: try await servers.killProcess()
            case 1: try await servers.killDatabase()
            default:
                try await servers.postgres.write("DELETE FROM role_members WHERE user_id = \(member.userID)")
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...2000)))
                try await servers.any.add(member.userID, to: "team")
            }
        }
    }

    /// What somebody may read: versions by collection and id.
    private static func readable(by member: TestMember, _ postgres: PostgresClient) async throws -> [String: Int] {
        let rows = try await postgres.read(
            """
            SELECT DISTINCT collections.name || '/' || records.id AS key, version::bigint FROM grants
            JOIN records ON key = record_key JOIN collections ON collections.id = grants.collection_id
            JOIN streams ON streams.id = stream_id
            WHERE rights % 2 = 1 AND deleted_at IS NULL AND (
                streams.user_id = \(member.userID) OR streams.collection_id IS NOT NULL
                OR streams.role_id IN (SELECT role_id FROM role_members WHERE user_id = \(member.userID))
            )
            UNION ALL SELECT 'photos/' || random_id, 0 FROM photos WHERE user_id = \(member.userID) AND state = 'ready'
            """
        )
        return try rows.reduce(into: [:]) { $0[try $1.decode("key")] = try $1.decode("version") }
    }
}
