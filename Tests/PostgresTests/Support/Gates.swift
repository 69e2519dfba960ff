import Postgres

/// A barrier for a number of tasks; later ones pass at once.
actor Meeting {
    private let count: Int
    private var arrived = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(of count: Int) {
        self.count = count
    }

    func arrive() async {
        arrived += 1
        guard arrived >= count else { return await withCheckedContinuation { waiting.append($0) } }
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

/// A lock of the server's that a test holds, so that statements are under way for as long as it wants.
struct HeldLock: Sendable {
    /// A statement that ends when the first lock is let go.
    static let wait: PostgresQuery = "SELECT pg_advisory_xact_lock_shared(1)"

    private let connection: PostgresConnection
    private let number: Int

    /// Runs a body while a lock of the database is held.
    static func holding<Result: Sendable>(
        _ url: String,
        number: Int = 1,
        _ body: (HeldLock) async throws -> Result
    ) async throws -> Result {
        try await withClient(url: url, maxConnections: 1) { client in
            try await client.withConnection { connection in
                try await connection.query("SELECT pg_advisory_lock(\(number))")
                return try await body(HeldLock(connection: connection, number: number))
            }
        }
    }

    func release() async throws {
        try await connection.query("SELECT pg_advisory_unlock(\(number))")
    }
}
