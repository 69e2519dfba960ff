import ConnectionTestSupport
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("Many connections", .timeLimit(.minutes(2)))
struct ManyConnectionsTests {
    @Test("A hundred connections are held at once, each is answered twice, and all share ten to the database")
    func parallel() async throws {
        // A busy machine may take longer to open ten connections.
        try await TestService.run(adjust: { $0.configuration.postgres.pool.leaseTimeout = .seconds(60) }) { service in
            // A session may have forty requests under way.
            var requests: [String] = []
            for name in ["ada", "bob", "cy", "di"] {
                let token = try await service.addSession(name: name)
                requests.append("GET /api/get_photos HTTP/1.1\r\nHost: a\r\nAuthorization: Token \(token)\r\n\r\n")
            }
            let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
            let (gate, opening) = AsyncStream.makeStream(of: Void.self)
            let isOpen = Task { for await _ in gate {} }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<100 {
                    tasks.addTask { [requests] in
                        defer { arrived.yield() }
                        try await RawConnection.open(port: service.port) { connection in
                            for round in 0..<2 {
                                try await connection.send(requests[number % 4])
                                let answer = try #require(try await connection.readResponse())
                                #expect(
                                    answer.status == 200 && answer.jsonArray?.isEmpty == true,
                                    "\(answer.status) \(answer.text)"
                                )
                                guard round == 0 else { continue }
                                arrived.yield()
                                await isOpen.value
                            }
                        }
                    }
                }
                var arrivals = arrivals.makeAsyncIterator()
                for _ in 0..<100 { await arrivals.next() }
                #expect(try SocketTable.openCount(at: service.port) >= 100)
                opening.finish()
                try await tasks.waitForAll()
            }
            let connections = try await service.count(
                """
                SELECT count(*) AS count FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'selfie'
                """
            )
            #expect((1...10).contains(connections))
        }
    }
}
