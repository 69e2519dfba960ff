import Migrations
import Postgres

/// The users, sessions and photos that a run lists.
enum BenchData {
    /// How many users have 20 photos; their tokens are `token-1`, `token-2` and so on.
    static let userCount = 1000
    static let photosPerUser = 20
    /// The user after those has a long list.
    static let longListCount = 10_000
    static var longListToken: String { "token-\(userCount + 1)" }
    /// The user after that has no photos.
    static var emptyListToken: String { "token-\(userCount + 2)" }
    /// The users after that upload.
    ///
    /// Each may have four uploads under way. The users after them have records, see ``BenchRecords``.
    static let uploaderTokens = (1...2).map { "token-\(userCount + 2 + $0)" }

    /// The users after them only follow changes, as do the users with 20 photos.
    static let followerCount = 9_000
    private static let firstFollower = userCount + 5 + uploaderTokens.count
    static let followerTokens = (Array(1...userCount) + Array(firstFollower..<firstFollower + followerCount))
        .map { "token-\($0)" }

    /// Migrates an empty database and fills it.
    ///
    /// Photos and sessions are in random order, as with many users at the same time. So a list is spread over pages. Users
    /// are in order, so that the user `n` has the token `token-n` and the stream `n`.
    static func make(databaseURL: String) async throws {
        var configuration = try PostgresConfiguration(url: databaseURL, maxConnections: 1)
        configuration.statementTimeout = nil
        let migrations = try MigrationDirectory(path: "migrations").load()
        _ = try await Migrator(configuration: configuration, migrations: migrations, lock: 1).up()
        try await PostgresClient.withClient(configuration: configuration) { client in
            try await client.withConnection { connection in
                for statement in statements { try await connection.execute(script: statement) }
            }
            try await BenchRecords.make(client)
            try await client.withConnection { connection in
                try await connection.execute(script: "VACUUM ANALYZE")
                // The new data must not be written to disk during a measurement.
                try await connection.execute(script: "CHECKPOINT")
            }
        }
    }

    static func serverVersion(databaseURL: String) async throws -> String {
        let configuration = try PostgresConfiguration(url: databaseURL, maxConnections: 1)
        return try await PostgresClient.withClient(configuration: configuration) { client in
            try await client.read("SELECT current_setting('server_version') AS version").first?
                .decode("version") ?? "unknown"
        }
    }

    private static let statements = [
        """
        INSERT INTO users (first_name, last_name, email, password_hash)
        SELECT 'First', 'Last', 'user-' || n || '@example.com', 'none'
        FROM generate_series(1, \(firstFollower + followerCount - 1)) AS n ORDER BY n
        """,
        """
        INSERT INTO sessions (user_id, token_digest, expires_at)
        SELECT id, sha256(convert_to('token-' || substring(email FROM '[0-9]+'), 'UTF8')),
            now() AT TIME ZONE 'UTC' + interval '1 day'
        FROM users ORDER BY random()
        """,
        """
        INSERT INTO photos (user_id, name, title, random_id, content_type, byte_count, width, height, state)
        SELECT users.id, 'IMG_' || k || '.jpg', 'Selfie number ' || k || ' of the summer',
            left(encode(sha256(convert_to(n || '/' || k, 'UTF8')), 'hex'), 43), 'image/jpeg', 123456, 3024, 4032, 'ready'
        FROM (
            SELECT n, k FROM generate_series(1, \(userCount)) AS n, generate_series(1, \(photosPerUser)) AS k
            UNION ALL
            SELECT \(userCount + 1), k FROM generate_series(1, \(longListCount)) AS k
        ) AS photo
        JOIN users ON email = 'user-' || n || '@example.com'
        ORDER BY random()
        """,
    ]
}
