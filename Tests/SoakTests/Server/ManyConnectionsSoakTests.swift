import ConnectionTestSupport
import Foundation
import Glibc
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

/// The numbers are those that the service is to stand.
@Suite("A thousand connections", .timeLimit(.minutes(4)))
struct ManyConnectionsSoakTests {
    private static let idleCount = 1000
    private static let parallelCount = 500

    @Test("A thousand idle connections and a burst over five hundred: each is answered, and nothing stays taken up")
    func burst() async throws {
        OpenFileLimit.raise()
        try await ServedSelfie.run { served in
            let service = served.service
            // A session may have forty requests under way.
            var tokens = [try await service.makeToken()]
            for _ in 1..<25 {
                let answer = try await service.signIn(email: "ada@example.com")
                tokens.append(try #require(answer.json["api_authtoken"] as? String))
            }
            var memory = 0
            try await withIdleConnections(service, token: tokens[0]) {
                // What comes first opens connections to the database, which are kept for a while.
                try await burst(service, requestsPerConnection: 2, tokens: tokens)
                memory = try ProcessMemory(of: served.process.processID).resident
                try await burst(service, requestsPerConnection: 20, tokens: tokens)
                // The pool has ten at most. How many of them are open depends on the moment.
                let connections = try await databaseConnections(service)
                #expect((1...10).contains(connections))
            }
            try await poll("the memory falls") {
                try ProcessMemory(of: served.process.processID).resident <= memory * 6 / 5
            }
            served.process.signal(SIGTERM)
            #expect(try await served.process.waitForExit() == 0)
        }
    }

    private func list(_ connection: inout RawConnection, token: String) async throws {
        try await connection.send(
            "GET /api/get_photos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token token=\"\(token)\"\r\n\r\n"
        )
        let answer = try await connection.readResponse()
        #expect(answer?.status == 200 && answer?.jsonArray?.isEmpty == true)
    }

    private func burst(_ service: TestService, requestsPerConnection: Int, tokens: [String]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.parallelCount {
                group.addTask {
                    try await RawConnection.open(port: service.port) { connection in
                        for _ in 0..<requestsPerConnection {
                            try await list(&connection, token: tokens[number % tokens.count])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Keeps connections open, each of which is used before and after the body.
    private func withIdleConnections(
        _ service: TestService,
        token: String,
        _ body: () async throws -> Void
    ) async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = Task { for await _ in releases {} }
            for _ in 0..<Self.idleCount {
                group.addTask {
                    try await RawConnection.open(port: service.port) { connection in
                        try await list(&connection, token: token)
                        arrived.yield()
                        await gate.value
                        try await list(&connection, token: token)
                    }
                }
            }
            var arrivals = arrivals.makeAsyncIterator()
            for _ in 0..<Self.idleCount { await arrivals.next() }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            release.finish()
            try await group.waitForAll()
            try result.get()
        }
    }

    /// How many sessions the service has at the database.
    private func databaseConnections(_ service: TestService) async throws -> Int {
        let rows = try await service.postgres.read(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'selfie'
            """
        )
        return try rows[0].decode("count")
    }
}
