import DatabaseTestSupport
import Postgres
import ServerProcesses
import Testing

@testable import SelfieAccounts

@Suite("The bell", .timeLimit(.minutes(1)))
struct ChangeBellTests {
    /// What is heard from the first ring to the one that names the user 1.
    private static func heard(_ ring: (ChangeBell) -> Void) async throws -> [[ChangeBell.Ring]] {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                let bell = ChangeBell(postgres: postgres)
                var notifications: [[ChangeBell.Ring]] = []
                for await event in postgres.listen(to: ChangeBell.channel) {
                    switch event {
                    case .mayHaveMissed: ring(bell)
                    case .notification(let notification):
                        notifications.append(
                            notification.payload.split(separator: ",").compactMap(ChangeBell.Ring.init)
                        )
                    }
                    if notifications.last?.contains(.user(1)) == true || notifications.last == [.everything] { break }
                }
                #expect(bell.lostCount == 0)
                return notifications
            }
        }
    }

    @Test("What comes while it rings goes together, and each is heard once")
    func together() async throws {
        let notifications = try await Self.heard { bell in
            for stream in 0..<2_000 { bell.ring([.stream(stream)]) }
            // The last one alone tells that all were heard.
            Task {
                try await Task.sleep(for: .milliseconds(500))
                bell.ring([.user(1)])
            }
        }
        let rings = notifications.joined()
        #expect(rings.count == 2_001 && Set(rings).count == 2_001)
        #expect(notifications.count <= 12, "\(notifications.count)")
        #expect(notifications.allSatisfy { $0.count <= 350 })
    }

    @Test("With too many, everything is said to have changed")
    func tooMany() async throws {
        let notifications = try await Self.heard { bell in bell.ring((0..<20_000).map { .stream($0) }) }
        #expect(notifications == [[.everything]])
    }

    @Test("What can't be sent is counted, and holds up nobody")
    func lost() async throws {
        let configuration = try PostgresConfiguration(url: "postgres://nobody@127.0.0.1:1/none")
        try await PostgresClient.withClient(configuration: configuration) { postgres in
            let bell = ChangeBell(postgres: postgres)
            bell.ring([.stream(1)])
            try await poll("the first is lost") { bell.lostCount == 1 }
            bell.ring([.user(1)])
            try await poll("the second is lost") { bell.lostCount == 2 }
            let silent = ChangeBell(postgres: nil)
            silent.ring([.everything])
            await silent.ringForEverything()
            #expect(silent.lostCount == 0)
        }
    }
}
