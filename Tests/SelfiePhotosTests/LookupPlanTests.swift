import DatabaseTestSupport
import Testing

@testable import Postgres
@testable import SelfieAccounts
@testable import SelfiePhotos

@Suite("Plans of look-ups", .timeLimit(.minutes(1)))
struct LookupPlanTests {
    private static let rows: [PostgresQuery] = [
        """
        INSERT INTO users (first_name, last_name, email, password_hash)
        SELECT '', '', n || '@example.com', '' FROM generate_series(1, 2000) AS n
        """,
        """
        INSERT INTO sessions (user_id, token_digest, expires_at)
        SELECT id, sha256(convert_to(email, 'UTF8')), now() AT TIME ZONE 'UTC' FROM users
        """,
        """
        INSERT INTO photos (user_id, name, title, random_id, state)
        SELECT id, '', '', email || n, 'ready' FROM users, generate_series(1, 3) AS n
        """,
        """
        INSERT INTO known_addresses (user_id, network) SELECT id, '192.0.2.' || n FROM users, generate_series(1, 3) AS n
        """,
        "ANALYZE",
    ]

    @Test("Each look-up reads by index alone, where tables have thousands of rows")
    func indexes() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                for statement in Self.rows { try await postgres.write(statement) }
                for lookup in [UserStore.byEmail, SessionStore.byToken, PhotoStore.servedPhotoByID] {
                    let rows = try await postgres.read("EXPLAIN \(part: lookup.query(for: [[1], [2]]))")
                    let plan = try rows.map { try $0.decode("QUERY PLAN", as: String.self) }
                    // A bitmap of a few rows is read by its index.
                    let scans = plan.filter {
                        $0.contains("Scan") && !$0.contains("Function Scan") && !$0.contains("Bitmap Heap")
                    }
                    #expect(!scans.isEmpty && scans.allSatisfy { $0.contains("Index Scan ") }, "\(plan)")
                    // An index that is read from its beginning to its end does not help.
                    #expect(plan.count { $0.contains("Index Cond:") } == scans.count, "\(plan)")
                }
            }
        }
    }
}
