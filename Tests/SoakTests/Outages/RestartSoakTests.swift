import DatabaseTestSupport
import ServiceTestSupport
import Testing

@Suite("The database is killed again and again under load", .timeLimit(.minutes(5)), .serialized)
struct RestartSoakTests {
    /// How long after its return the database may still be refused to clients.
    private static let recovery: Duration = .seconds(5)

    @Test("Only 503 in JSON, none once it has been back for 5 s, and never somebody else's photos")
    func killedTenTimes() async throws {
        try await OwnCluster.use { cluster in
            try await RestartLoad.addUsers(url: cluster.url)
            try await TestService.run(databaseURL: cluster.url, store: .disk) { service in
                try await RestartLoad.run(at: service, readers: 16, statements: 8, recovery: Self.recovery) { load in
                    for _ in 0..<10 {
                        try await load.expectAnswers(100, within: .seconds(20))
                        load.databaseEnds()
                        try await cluster.killHard()
                        try await cluster.start()
                        load.databaseBegan()
                    }
                    try await load.expectAnswers(100, within: .seconds(20))
                    try await Task.sleep(for: Self.recovery)
                    try await load.expectAnswers(200, within: .seconds(20))
                }
            }
        }
    }
}
