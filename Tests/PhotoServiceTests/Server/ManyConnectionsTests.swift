import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@testable import PhotoService

/// The numbers are those that the service is to stand.
@Suite("Many connections", .timeLimit(.minutes(4)), .serialized)
struct ManyConnectionsTests {
    private static let idleCount = 1000
    private static let parallelCount = 500
    private static let requestsPerConnection = 20

    @Test("A thousand idle connections and a burst over five hundred: each is answered, and nothing stays taken up")
    func burst() async throws {
        raiseOpenFileLimit()
        try await ServedSelfie.run { served in
            let service = served.service
            let token = try await service.makeToken()
            try await withIdleConnections(Self.idleCount, service, token: token) {
                // The first burst opens what is then kept: connections to the database, and the code's own pages.
                try await burst(service, token: token)
                let connections = try await databaseConnections(service)
                let memory = try await settledMemory(served)
                for _ in 0..<2 { try await burst(service, token: token) }
                #expect(try await databaseConnections(service) == connections)
                let configuration = try PostgresConfiguration(url: service.databaseURL)
                #expect(connections <= configuration.pool.connectionsMax)
                let deadline = ContinuousClock.now + .seconds(60)
                while try residentBytes(served) > memory * 6 / 5, ContinuousClock.now < deadline {
                    try await Task.sleep(for: .milliseconds(500))
                }
                #expect(try residentBytes(served) <= memory * 6 / 5)
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

    private func burst(_ service: TestService, token: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.parallelCount {
                group.addTask {
                    try await RawConnection.open(port: service.port) { connection in
                        for _ in 0..<Self.requestsPerConnection { try await list(&connection, token: token) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Keeps connections open, each of which is used before and after the body.
    private func withIdleConnections(
        _ count: Int,
        _ service: TestService,
        token: String,
        _ body: () async throws -> Void
    ) async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = Task { for await _ in releases {} }
            for _ in 0..<count {
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
            for _ in 0..<count { await arrivals.next() }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            release.finish()
            try await group.waitForAll()
            try result.get()
        }
    }

    /// How many sessions the service has at the database.
    private func databaseConnections(_ service: TestService) async throws -> Int {
        let rows = try await service.postgres.query(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'selfie'
            """
        )
        return try rows[0].decode("count")
    }

    /// What the process takes up once it has given back what a burst left free.
    private func settledMemory(_ served: ServedSelfie) async throws -> Int {
        // It looks every ten seconds.
        try await Task.sleep(for: .seconds(12))
        return try residentBytes(served)
    }

    private func residentBytes(_ served: ServedSelfie) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(served.process.processID)/statm", encoding: .utf8)
        // The second field is the resident set, in pages (proc(5)).
        let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return pages * Int(getpagesize())
    }

    private func raiseOpenFileLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
