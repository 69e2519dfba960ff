import DatabaseTestSupport
import NIOConcurrencyHelpers
import Outages
import ServerProcesses
import Testing

@testable import Postgres

@Suite("Whether the database can be reached", .timeLimit(.minutes(2)))
struct ReachabilityReportTests {
    @Test("An outage is reported once with libpq's reason, again for another reason, and once at its end")
    func outage() async throws {
        try await OwnCluster.use { cluster in
            let changes = NIOLockedValueBox<[OutageReport.Change]>([])
            var configuration = try PostgresConfiguration(url: cluster.url)
            configuration.pool.leaseTimeout = .milliseconds(300)
            configuration.onReachabilityChange = { change in changes.withLockedValue { $0.append(change) } }
            try await PostgresClient.withClient(configuration: configuration) { client in
                _ = try await client.read("SELECT 1")
                #expect(changes.withLockedValue { $0.isEmpty })
                try await cluster.kill()
                for _ in 0..<5 { _ = try? await client.read("SELECT 1") }
                let reasons = changes.withLockedValue { $0 }
                #expect(reasons.count == 1)
                guard case .failing(let reason) = reasons.first else {
                    Issue.record("\(reasons)")
                    return
                }
                #expect(reason.contains("No such file or directory"))
                try await cluster.start()
                try await poll("it works again") { (try? await client.read("SELECT 1")) != nil }
                #expect(changes.withLockedValue { $0.dropFirst() } == [.over])
            }
        }
    }

    @Test("Each new reason is reported, none twice in a row, and none with a password")
    func reasons() throws {
        let changes = NIOLockedValueBox<[OutageReport.Change]>([])
        var configuration = try PostgresConfiguration(url: "postgresql://ada:hunter2@127.0.0.1:1/none")
        configuration.onReachabilityChange = { change in changes.withLockedValue { $0.append(change) } }
        let report = ReachabilityReport(configuration)
        report.succeeded()
        for reason in ["a", "a", "b hunter2", "b hunter2", "a"] { report.failed(.cannotConnect(reason)) }
        report.failed(.leaseTimedOut)
        report.succeeded()
        report.succeeded()
        report.failed(.cannotConnect("c"))
        #expect(
            changes.withLockedValue { $0 } == [
                .failing(reason: "a"), .failing(reason: "b …"), .failing(reason: "a"), .over, .failing(reason: "c"),
            ]
        )
    }
}
