import DatabaseTestSupport
import Glibc
import Testing

@testable import Postgres

@Suite("A connection and what watches its socket")
struct WatchedConnectionTests {
    @Test("A connection whose socket can't be watched is lost, and the process continues")
    func unwatched() async throws {
        let libpq = try LibPQ.connect(url: try await TestCluster.scratchDatabase(), parameters: [:])
        let descriptor = libpq.socket
        let socket = try #require(descriptor)
        let connection = PipelinedConnection(libpq) {}
        // A file in the socket's place: epoll(7) takes none.
        let file = open("/dev/null", O_RDWR)
        defer { close(file) }
        try #require(dup2(file, socket) == socket)
        let error = #expect(throws: PostgresError.self) { try connection.flush() }
        guard case .connectionLost(let reason) = error else {
            Issue.record("\(String(reflecting: error))")
            return
        }
        #expect(reason == "the system does not watch the connection's socket")
    }
}
