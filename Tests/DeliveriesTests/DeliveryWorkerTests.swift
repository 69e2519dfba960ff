import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import TestSupport
import Testing

@testable import Deliveries

@Suite("Deliveries", .timeLimit(.minutes(2)))
struct DeliveryWorkerTests {
    private static func pause() async { try? await Task.sleep(for: .seconds(3_600)) }

    @Test("One that was taken goes; so does one that is pointless", arguments: [DeliveryOutcome.sent, .pointless])
    func taken(outcome: DeliveryOutcome) async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in outcome }
            let ids = try await scene.add(3)
            try await scene.withWorker(channel) { _ in
                try await poll("all are gone") { try await scene.rows().isEmpty }
            }
            #expect(Set(channel.given.map(\.id)) == Set(ids) && channel.given.count == 3)
            #expect(channel.given.allSatisfy { $0.channel == .mail && $0.tryCount == 1 })
            #expect(Set(channel.given.map(\.cause)) == [#"{"n": 0}"#, #"{"n": 1}"#, #"{"n": 2}"#])
        }
    }

    @Test("What its cause takes back is never sent")
    func rolledBack() async throws {
        struct Failure: Error {}
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in .sent }
            await #expect(throws: Failure.self) {
                try await scene.postgres.withTransaction { connection in
                    try await connection.execute(
                        DeliveryStore.insertion(of: [NewDelivery(channel: .mail, target: "mail", cause: "{}")])
                    )
                    throw Failure()
                }
            }
            try await scene.withWorker(channel) { worker in
                try await scene.add(to: "other")
                worker.wake()
                try await poll("the other one is sent") { channel.given.count == 1 }
            }
            #expect(channel.given.map(\.target) == ["other"])
        }
    }

    @Test("What can't be taken now is tried eight times, always with its id, and stays as failed")
    func tries() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in .notNow(reason: "greylisted") }
            let ids = try await scene.add(lifetime: NewDelivery.maxLifetime)
            try await scene.withWorker(channel) { worker in
                for count in 1...8 {
                    try await poll("try \(count)") {
                        try await scene.rows() == ["mail \(count) \(count < 8 ? "waiting" : "failed") greylisted"]
                    }
                    let pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 0]
                    // Not before four fifths of the pause, and not after six.
                    try await scene.postgres.write(
                        "UPDATE deliveries SET due_at = due_at - make_interval(secs => \(pauses[count - 1]) * 0.7)"
                    )
                    #expect(try await scene.dueCount() == 0)
                    try await scene.postgres.write(
                        "UPDATE deliveries SET due_at = due_at - make_interval(secs => \(pauses[count - 1]) * 0.5)"
                    )
                    worker.wake()
                }
            }
            #expect(channel.given.map(\.id) == Array(repeating: ids[0], count: 8))
            #expect(channel.given.map(\.tryCount) == Array(1...8))
        }
    }

    @Test("A refusal is final")
    func refused() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in .refused(reason: "no_such_user") }
            try await scene.add()
            try await scene.withWorker(channel) { worker in
                try await poll("it failed") { try await scene.rows() == ["mail 1 failed no_such_user"] }
                worker.wake()
                try await scene.add(to: "other")
                worker.wake()
                try await poll("the next one failed") { try await scene.rows().count == 2 && channel.given.count == 2 }
            }
        }
    }

    @Test("A dead target has four under way, and holds up no other")
    func deadTarget() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { delivery in
                guard delivery.target == "dead" else { return .sent }
                await Self.pause()
                return .notNow(reason: "cancelled")
            }
            try await scene.add(100, to: "dead")
            try await scene.add(100, to: "alive")
            try await scene.add(1, to: "zebra")
            try await scene.withWorker(channel, { $0.patience = .milliseconds(10) }) { _ in
                try await poll("the others are sent") {
                    try await scene.count("SELECT count(*) FROM deliveries WHERE target <> 'dead'") == 0
                }
                #expect(channel.most("dead") == 4 && channel.most("alive") <= 4)
            }
            // Those under way were given back.
            #expect(try await scene.rows() == Array(repeating: "dead 0 waiting", count: 100))
        }
    }

    @Test("Dead webhooks, as many as there may be, hold up no mail, and no webhook that works")
    func deadChannel() async throws {
        try await DeliveryScene.with { scene in
            let webhooks = TestChannel(.webhook) { delivery in
                guard delivery.target.hasPrefix("dead") else { return .sent }
                await Self.pause()
                return .notNow(reason: "cancelled")
            }
            let mails = TestChannel { _ in .sent }
            for number in 1...15 { try await scene.add(10, to: "dead \(number)", channel: .webhook) }
            try await scene.add(10, to: "works", channel: .webhook)
            try await scene.add(100)
            try await scene.withWorker([webhooks, mails], { $0.patience = .milliseconds(10) }) { _ in
                try await poll("all others are sent") {
                    try await scene.count("SELECT count(*) FROM deliveries WHERE target NOT LIKE 'dead%'") == 0
                }
            }
            #expect(mails.given.count == 100)
            #expect((1...15).allSatisfy { webhooks.most("dead \($0)") == 4 })
        }
    }

    @Test("Once it is stopped, it begins nothing, and gives back what it was claiming")
    func stopped() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in .sent }
            try await scene.add(10)
            try await scene.withWorker(channel) { worker in
                try await poll("all are sent") { channel.given.count == 10 }
                try await scene.postgres.withTransaction { connection in
                    // Holds up the claim until the worker is stopped.
                    try await connection.execute("LOCK TABLE deliveries IN SHARE ROW EXCLUSIVE MODE")
                    let new = [NewDelivery(channel: .mail, target: "mail", cause: "{}")]
                    try await connection.execute(DeliveryStore.insertion(of: new))
                    worker.wake()
                    try await poll("it claims") { try await scene.lockWaiterCount() > 0 }
                    worker.stop()
                }
            }
            #expect(channel.given.count == 10)
            #expect(try await scene.rows() == ["mail 0 waiting"])
        }
    }

    @Test("A database that fails delays deliveries, and loses none")
    func databaseFails() async throws {
        try await DeliveryScene.with { scene in
            let hide: PostgresQuery = "ALTER TABLE deliveries RENAME TO hidden"
            let show: PostgresQuery = "ALTER TABLE hidden RENAME TO deliveries"
            let ids = try await scene.add()
            try await scene.postgres.write(hide)
            let log = TestLog()
            let channel = TestChannel { delivery in
                // The end of the first try can't be noted.
                if delivery.tryCount == 1 { _ = try? await scene.postgres.write(hide) }
                return .sent
            }
            try await scene.withWorker(channel, log: log, { $0.notePause = .milliseconds(1) }) { worker in
                try await poll("it is told") { log.text.contains("deliveries can't be looked at") }
                try await scene.postgres.write(show)
                worker.wake()
                try await poll("the end is not noted") { log.text.contains("the end of a delivery was not noted") }
                try await scene.postgres.write(show)
                #expect(try await scene.rows() == ["mail 1 claimed"])
                try await scene.postgres.write("UPDATE deliveries SET claimed_until = claimed_until - interval '90 s'")
                worker.wake()
                try await poll("it is sent again") { try await scene.rows().isEmpty }
            }
            #expect(channel.given.map(\.id) == [ids[0], ids[0]])
            #expect(log.text.contains("deliveries can be looked at again"))
        }
    }

    @Test("Several processes send each once")
    func processes() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in
                await Task.yield()
                return .sent
            }
            for target in 0..<20 { try await scene.add(20, to: "target \(target)") }
            try await scene.withWorker(channel) { _ in
                try await scene.withWorker(channel) { _ in
                    try await poll("all are sent") { try await scene.rows().isEmpty }
                }
            }
            #expect(channel.given.count == 400 && Set(channel.given.map(\.id)).count == 400)
        }
    }

    @Test("After a process was killed, another one takes over when the lease ends; who comes late changes nothing")
    func lease() async throws {
        try await DeliveryScene.with { scene in
            let ids = try await scene.add()
            let claims = try await scene.store.claim(.mail, behind: "", busy: [:], maxCount: 10)
            let dead = try #require(claims.deliveries.first)
            #expect(dead.id == ids[0] && dead.tryCount == 1)
            let held: PostgresQuery = """
                SELECT count(*) FROM deliveries WHERE claimed_until - interval '80 s' > now() AT TIME ZONE 'UTC'
                """
            #expect(try await scene.count(held) == 1)
            #expect(try await scene.store.claim(.mail, behind: "", busy: [:], maxCount: 10).deliveries.isEmpty)
            try await scene.postgres.write("UPDATE deliveries SET claimed_until = claimed_until - interval '90 s'")
            let next = try #require(
                try await scene.store.claim(.mail, behind: "", busy: [:], maxCount: 10).deliveries.first
            )
            #expect(next.id == dead.id && next.tryCount == 2)
            _ = try await scene.store.finish(dead, .sent, pause: nil)
            _ = try await scene.store.finish(dead, .refused(reason: "late"), pause: nil)
            _ = try await scene.store.finish(dead, .notNow(reason: "late"), pause: .seconds(1))
            try await scene.store.giveBack(dead)
            #expect(try await scene.rows() == ["mail 2 claimed"])
            _ = try await scene.store.finish(next, .sent, pause: nil)
            #expect(try await scene.rows().isEmpty)
        }
    }

    @Test("What is under way at the end is finished, if it does not take too long")
    func end() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in
                try? await Task.sleep(for: .milliseconds(100))
                return .sent
            }
            try await scene.add(4)
            try await scene.add(100, to: "later")
            try await scene.withWorker(channel, { $0.maxUnderWay = 4 }) { _ in
                try await poll("it began") { channel.given.count >= 4 }
            }
            // No other one was begun after the end.
            let left = try await scene.rows()
            #expect(left.allSatisfy { $0.hasSuffix("0 waiting") } && left.count == 104 - channel.given.count)
        }
    }

    @Test("One that takes too long is tried again later")
    func silent() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in
                await Self.pause()
                return .sent
            }
            try await scene.add()
            try await scene.withWorker(channel, { $0.maxSendTime = .milliseconds(20) }) { _ in
                try await poll("it is put off") { try await scene.rows() == ["mail 1 waiting silent"] }
            }
        }
    }

    @Test("What is too late is not sent, and noted as failed; what failed a week ago goes")
    func tidying() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in .sent }
            try await scene.add(to: "late", lifetime: .seconds(600))
            try await scene.postgres.write("UPDATE deliveries SET ends_at = ends_at - interval '600 s'")
            try await scene.add(to: "alive")
            try await scene.withWorker(channel) { worker in
                try await poll("one is sent") { channel.given.count == 1 }
            }
            #expect(channel.given.map(\.target) == ["alive"])
            #expect(try await scene.rows() == ["late 0 waiting"])
            try await scene.store.tidy()
            #expect(try await scene.rows() == ["late 0 failed too_late"])
            try await scene.postgres.write("UPDATE deliveries SET failed_at = failed_at - interval '167 h'")
            try await scene.store.tidy()
            #expect(try await scene.rows().count == 1)
            try await scene.postgres.write("UPDATE deliveries SET failed_at = failed_at - interval '1 h'")
            try await scene.store.tidy()
            #expect(try await scene.rows().isEmpty)
        }
    }

    @Test("Of what failed, so many are kept at most: the newest")
    func manyFailures() async throws {
        try await DeliveryScene.with { scene in
            try await scene.add(20)
            try await scene.postgres.write(
                """
                UPDATE deliveries SET failed_at = now() AT TIME ZONE 'UTC' - number * interval '1 s', target = 't' || number
                FROM (SELECT id, row_number() OVER () AS number FROM deliveries) AS numbered WHERE numbered.id = deliveries.id
                """
            )
            var store = scene.store
            store.maxFailedCount = 5
            try await store.tidy()
            #expect(try await scene.rows() == (1...5).map { "t\($0) 0 failed" })
        }
    }

    @Test("One that would end before its next try has failed at once")
    func endsBeforeNextTry() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in .notNow(reason: "busy") }
            try await scene.add(lifetime: .seconds(3))
            try await scene.withWorker(channel) { _ in
                try await poll("it failed") { try await scene.rows() == ["mail 1 failed busy"] }
            }
        }
    }

    @Test("Of thousands of targets that wait, those that are due are found")
    func manyTargets() async throws {
        try await DeliveryScene.with { scene in
            try await scene.postgres.write(
                """
                INSERT INTO deliveries (id, channel, target, cause, due_at, ends_at)
                SELECT gen_random_uuid(), 'mail', 'target ' || lpad(number::text, 5, '0'), '{}',
                    CASE WHEN number IN (7, 1501, 2999) THEN now() AT TIME ZONE 'UTC' ELSE 'infinity' END, 'infinity'
                FROM generate_series(1, 3000) AS number
                """
            )
            let channel = TestChannel { _ in .sent }
            try await scene.withWorker(channel) { _ in
                try await poll("they are sent") { channel.given.count == 3 }
            }
            #expect(Set(channel.given.map(\.target)) == ["target 00007", "target 01501", "target 02999"])
        }
    }

    @Test("Channels that a process does not have are left to others")
    func otherChannel() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel(.webhook) { _ in .sent }
            try await scene.add(to: "mail")
            try await scene.add(to: "webhook:1", channel: .webhook)
            try await scene.withWorker(channel) { _ in
                try await poll("its own is sent") { channel.given.count == 1 }
            }
            #expect(try await scene.rows() == ["mail 0 waiting"])
        }
    }

    @Test("Who is asked to wait waits")
    func retryAfter() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { _ in .notNow(reason: "slow_down", retryAfter: .seconds(9)) }
            try await scene.add()
            try await scene.withWorker(channel) { _ in
                try await poll("it is put off") { try await scene.rows() == ["mail 1 waiting slow_down"] }
            }
            let due = "SELECT count(*) FROM deliveries WHERE due_at - created_at >= interval '9 s'"
            #expect(try await scene.count(PostgresQuery(stringLiteral: due)) == 1)
        }
    }
}
