import ConnectionTestSupport
import DatabaseTestSupport
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("The database is killed under load", .timeLimit(.minutes(3)))
struct RestartTests {
    @Test("Requests meanwhile get 503 in JSON, and never another user's photos; afterwards all is as before")
    func killedTwice() async throws {
        try await OwnCluster.use { cluster in
            try await RestartLoad.addUsers(url: cluster.url)
            try await TestService.run(
                databaseURL: cluster.url,
                adjust: {
                    $0.configuration.postgres.pool.leaseTimeout = .milliseconds(200)
                }
            ) { service in
                try await RestartLoad.run(at: service, readers: 8, statements: 4) { load in
                    for _ in 0..<2 {
                        try await load.expectAnswers(50)
                        let refused = load.refused
                        try await cluster.killHard()
                        try await poll("somebody is refused") { load.refused > refused }
                        try await cluster.start()
                    }
                    try await load.expectAnswers(100)
                }
                // Even now a busy machine may need longer than the short limit.
                try await poll("a list comes again") { try await service.list(token: "token-1").status == 200 }
            }
        }
    }
}
