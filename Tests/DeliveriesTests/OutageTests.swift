import Foundation
import Postgres
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@testable import Deliveries

@Suite("Outages of a channel", .timeLimit(.minutes(2)))
struct OutageTests {
    @Test(
        "While the other side takes nothing, one is tried now and then, which does not count; then all go out at once"
    )
    func back() async throws {
        try await DeliveryScene.with { scene in
            let isBack = Atomic(false)
            let channel = TestChannel { _ in
                isBack.load(ordering: .relaxed) ? .sent : .unavailable(reason: "gone", server: "server")
            }
            for number in 0..<5 { try await scene.add(to: "t\(number)", lifetime: NewDelivery.maxLifetime) }
            try await scene.withWorker(channel, { $0.interval = .milliseconds(50) }) { worker in
                try await poll("all were tried") {
                    try await scene.rows().allSatisfy { $0.hasSuffix(" 1 waiting gone") }
                }
                // As hours later, when the next regular try is far away.
                try await scene.postgres.write(
                    "UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC' + interval '2 hours'"
                )
                let tried = channel.given.count
                try await poll("it was looked for") { channel.given.count >= tried + 8 }
                try await poll("none of that counts") {
                    try await scene.rows() == (0..<5).map { "t\($0) 1 waiting gone" }
                }
                isBack.store(true, ordering: .relaxed)
                try await poll("all are sent") { try await scene.rows().isEmpty }
            }
            #expect(Set(channel.given.map(\.target)).count == 5)
        }
    }

    @Test("After a start, what waits for the other side's return is found")
    func restarted() async throws {
        try await DeliveryScene.with { scene in
            try await scene.add(2, lifetime: NewDelivery.maxLifetime)
            try await scene.postgres.write(
                "UPDATE deliveries SET awaited_server = 'server', due_at = now() AT TIME ZONE 'UTC' + interval '2 hours'"
            )
            let channel = TestChannel { _ in .sent }
            try await scene.withWorker(channel) { worker in
                try await poll("both are sent") { try await scene.rows().isEmpty }
            }
        }
    }

    @Test("One that fails by itself uses up no tries while others are sent")
    func alone() async throws {
        try await DeliveryScene.with { scene in
            let channel = TestChannel { $0.target == "bad" ? .unavailable(reason: "gone", server: "server") : .sent }
            try await scene.add(to: "bad", lifetime: NewDelivery.maxLifetime)
            // It is looked for the server all the time.
            try await scene.withWorker(channel, { $0.interval = .milliseconds(20) }) { worker in
                for number in 1...20 {
                    try await scene.add(to: "good")
                    worker.wake()
                    try await poll("it is sent") { channel.given.count { $0.target == "good" } == number }
                }
                // Its probes are no tries.
                try await poll("it was looked for") { channel.given.count { $0.target == "bad" } > 3 }
            }
            // It has not used up its tries.
            #expect(try await scene.rows() == ["bad 1 waiting gone"])
        }
    }

    @Test("What was not asked for is no try, and goes out once the server is back")
    func postponed() async throws {
        try await DeliveryScene.with { scene in
            let isBack = Atomic(false)
            let channel = TestChannel { _ in isBack.load(ordering: .relaxed) ? .sent : .postponed(server: "server") }
            for number in 0..<3 { try await scene.add(to: "t\(number)", lifetime: NewDelivery.maxLifetime) }
            try await scene.withWorker(channel, { $0.interval = .milliseconds(50) }) { worker in
                try await poll("it was looked for") { channel.given.count > 8 }
                try await poll("none of that counts") {
                    try await scene.rows() == (0..<3).map { "t\($0) 0 waiting" }
                }
                isBack.store(true, ordering: .relaxed)
                try await poll("all are sent") { try await scene.rows().isEmpty }
            }
        }
    }

    @Test("A server's return says nothing of another one")
    func two() async throws {
        try await DeliveryScene.with { scene in
            let isBack = Atomic(false)
            let channel = TestChannel { delivery in
                let server = String(delivery.target.prefix(1))
                if server == "a", isBack.load(ordering: .relaxed) { return .sent }
                return .unavailable(reason: "gone", server: server)
            }
            for number in 0..<3 {
                for server in ["a", "b"] {
                    try await scene.add(to: "\(server)\(number)", lifetime: NewDelivery.maxLifetime)
                }
            }
            try await scene.withWorker(channel, { $0.interval = .milliseconds(50) }) { worker in
                try await poll("all were tried") {
                    try await scene.rows().allSatisfy { $0.hasSuffix(" 1 waiting gone") }
                }
                try await scene.postgres.write(
                    "UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC' + interval '2 hours'"
                )
                isBack.store(true, ordering: .relaxed)
                try await poll("those of one are sent") {
                    try await scene.rows() == (0..<3).map { "b\($0) 1 waiting gone" }
                }
            }
        }
    }

    @Test("What is unfinished goes on at once, from where it was, and that is no try")
    func unfinished() async throws {
        try await DeliveryScene.with { scene in
            let store = scene.store
            let channel = TestChannel { delivery in
                let part = (Int(delivery.cause.filter(\.isNumber)) ?? 0) + 1
                if part == 4 { return .sent }
                let query = DeliveryStore.progress(#"{"n": \#(part)}"#, of: delivery)
                let count = try? await store.postgres.write(query)
                return count == 1 ? .unfinished : .refused(reason: "lost")
            }
            try await scene.add()
            try await scene.withWorker(channel) { worker in
                try await poll("it is done") { try await scene.rows().isEmpty }
            }
            #expect(channel.given.map(\.cause) == (0...3).map { #"{"n": \#($0)}"# })
            #expect(channel.given.allSatisfy { $0.tryCount == 1 })
            // Another claim's progress is none.
            try await scene.add()
            let claimed = try await store.claim(.mail, behind: "", busy: [:], maxCount: 1).deliveries[0]
            try await scene.postgres.write("UPDATE deliveries SET claimed_until = claimed_until + interval '1 s'")
            #expect(try await scene.postgres.write(DeliveryStore.progress("{}", of: claimed)) == 0)
        }
    }
}
