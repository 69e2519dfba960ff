import DatabaseTestSupport
import Postgres
import ServerProcesses
import Testing

@testable import SelfieAccounts

@Suite("Notifications of changes", .timeLimit(.minutes(1)))
struct ChangeNotifierTests {
    /// The payloads that arrive, up to the one that names the user 1.
    private static func received(
        _ notify: (ChangeNotifier) -> Void
    ) async throws -> [[ChangeNotifier.Notification]] {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                let notifier = ChangeNotifier(postgres: postgres)
                var payloads: [[ChangeNotifier.Notification]] = []
                for await event in postgres.listen(to: ChangeNotifier.channel) {
                    switch event {
                    case .mayHaveMissed: notify(notifier)
                    case .notification(let notification):
                        payloads.append(
                            notification.payload.split(separator: ",").compactMap(ChangeNotifier.Notification.init)
                        )
                    }
                    if payloads.last?.contains(.user(1)) == true || payloads.last == [.everything] { break }
                }
                #expect(notifier.lostCount == 0)
                return payloads
            }
        }
    }

    @Test("Changes made while a payload is sent share the next one, and each arrives once")
    func together() async throws {
        let payloads = try await Self.received { notifier in
            for stream in 0..<2_000 { notifier.notify([.stream(stream)]) }
            // The last one shows that all have arrived.
            Task {
                try await Task.sleep(for: .milliseconds(500))
                notifier.notify([.user(1)])
            }
        }
        let notifications = payloads.joined()
        #expect(notifications.count == 2_001 && Set(notifications).count == 2_001)
        #expect(payloads.count <= 12, "\(payloads.count)")
        #expect(payloads.allSatisfy { $0.count <= 350 })
    }

    @Test("With too many, everything is said to have changed")
    func tooMany() async throws {
        let payloads = try await Self.received { notifier in notifier.notify((0..<20_000).map { .stream($0) }) }
        #expect(payloads == [[.everything]])
    }

    @Test("Notifications that can't be sent are counted, and delay no other caller")
    func lost() async throws {
        let configuration = try PostgresConfiguration(url: "postgres://nobody@127.0.0.1:1/none")
        try await PostgresClient.withClient(configuration: configuration) { postgres in
            let notifier = ChangeNotifier(postgres: postgres)
            notifier.notify([.stream(1)])
            try await poll("the first is lost") { notifier.lostCount == 1 }
            notifier.notify([.user(1)])
            try await poll("the second is lost") { notifier.lostCount == 2 }
            let silent = ChangeNotifier(postgres: nil)
            silent.notify([.everything])
            await silent.notifyOfEverything()
            #expect(silent.lostCount == 0)
        }
    }
}
