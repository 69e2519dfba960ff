import DatabaseTestSupport
import Foundation
import Postgres
import Testing

@testable import Migrations

@Suite("Taking over a database of railsauth's", .timeLimit(.minutes(2)))
struct RailsAdoptionTests {
    private func withRailsDatabase(_ body: (String) async throws -> Void) async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await RailsDatabase.make(url: url)
            try await body(url)
        }
    }

    private func migrator(_ url: String) throws -> Migrator {
        Migrator(configuration: try .patient(url: url), migrations: try TestCluster.migrations(), lock: 1)
    }

    @Test("Only what Rails did not apply is applied, and the tables end as on a new database")
    func schema() async throws {
        try await withRailsDatabase { url in
            let states = try await migrator(url).status().entries.map(\.state)
            #expect(states.prefix(3) == [.applied, .applied, .applied])
            #expect(states.dropFirst(3).allSatisfy { $0 == .pending })
            let applied = try await migrator(url).up().map(\.version)
            #expect(
                applied == (try TestCluster.migrations().map(\.version).filter { !RailsDatabase.versions.contains($0) })
            )
            try await TestCluster.withDatabase { new async throws in
                #expect(try await Self.schema(of: url) == Self.schema(of: new))
            }
        }
    }

    @Test("Tokens become digests and are removed from users; everything else stays")
    func rows() async throws {
        try await withRailsDatabase { url in
            let before = try await Self.users(url)
            _ = try await migrator(url).up()
            #expect(try await Self.users(url) == before)
            try await TestCluster.withClient(url) { client async throws in
                let tokens = try await client.read(
                    "SELECT * FROM users WHERE api_authtoken IS NOT NULL OR authtoken_expiry IS NOT NULL"
                )
                #expect(tokens.isEmpty)

                let sessions = try await client.read(
                    """
                    SELECT user_id, expires_at > now() AT TIME ZONE 'UTC' AS is_alive FROM sessions WHERE token_digest
                        IN (sha256(\(Array(RailsDatabase.liveToken.utf8))), sha256(\(Array(RailsDatabase.expiredToken.utf8))))
                    ORDER BY user_id
                    """
                )
                #expect(try sessions.map { try $0.decode("user_id", as: Int.self) } == [1, 2])
                #expect(try sessions.map { try $0.decode("is_alive", as: Bool.self) } == [true, false])
                #expect(try await client.read("SELECT * FROM sessions").count == 2)

                let photos = try await client.read(
                    "SELECT random_id, title, state, user_id, content_type FROM photos ORDER BY id"
                )
                #expect(
                    try photos.map { try $0.decode("random_id", as: String.self) }
                        == RailsDatabase.photoIDs + [RailsDatabase.otherPhotoID]
                )
                #expect(try photos.allSatisfy { try $0.decode("state", as: String.self) == "ready" })
                #expect(try photos.allSatisfy { try $0.decodeIfPresent("content_type", as: String.self) == nil })
                #expect(try photos.map { try $0.decode("user_id", as: Int.self) } == [1, 1, 2])
            }
            let dump = try await DatabaseDump.lines(url: url).joined(separator: "\n")
            #expect(!dump.contains(RailsDatabase.liveToken) && !dump.contains(RailsDatabase.expiredToken))
        }
    }

    @Test("Down to where Rails was leaves Rails' tables and all users and photos; down to the ground leaves none")
    func down() async throws {
        try await withRailsDatabase { url in
            let schema = try await Self.schema(of: url)
            let users = try await Self.users(url)
            let added = try await migrator(url).up().count
            #expect(try await migrator(url).down(.last(added))?.count == added)
            #expect(try await Self.schema(of: url) == schema)
            #expect(try await Self.users(url) == users)
            #expect(try await migrator(url).down(.last(3))?.count == 3)
            #expect(try await migrator(url).up().count == added + 3)
        }
    }

    @Test("Users with a blank token get no session, of two with one token one does")
    func oddTokens() async throws {
        try await withRailsDatabase { url in
            try await RailsDatabase.run(
                """
                UPDATE users SET api_authtoken = '', authtoken_expiry = now() WHERE id = 2;
                UPDATE users SET api_authtoken = '\(RailsDatabase.liveToken)', authtoken_expiry = NULL WHERE id = 3;
                """,
                url: url
            )
            _ = try await migrator(url).up()
            try await TestCluster.withClient(url) { client async throws in
                #expect(try await client.read("SELECT * FROM sessions").count == 1)
            }
        }
    }

    @Test(
        "Rows that break a rule stop everything with their ids and what to do, and change nothing",
        arguments: [
            (
                "UPDATE users SET email = 'ADA@example.com ' WHERE id = 3",
                "Users whose e-mails are the same but for case or spaces, by id: (1, 3). Change the e-mail"
            ),
            ("UPDATE users SET first_name = NULL WHERE id = 2", "Users without a first or last name, by id: 2. Give"),
            ("UPDATE users SET last_name = NULL WHERE id < 3", "Users without a first or last name, by id: 1, 2. Give"),
            ("UPDATE users SET email = NULL WHERE id = 3", "Users without an e-mail or a password hash"),
            ("UPDATE users SET email = '  ' WHERE id = 3", "who can never sign in, by id: 3. Fill"),
            ("UPDATE users SET password_hash = NULL WHERE id = 3", "who can never sign in, by id: 3. Fill"),
            ("UPDATE photos SET name = NULL WHERE id = 1", "Photos without a name or a title, by id: 1. Give"),
            ("UPDATE photos SET title = NULL WHERE id = 3", "Photos without a name or a title, by id: 3. Give"),
            ("UPDATE photos SET random_id = NULL WHERE id = 2", "in the bucket, by id: 2. Fill it in from the bucket"),
            ("UPDATE photos SET random_id = 'same' WHERE id < 3", "share a random_id, by id: 1, 2. Keep one of each."),
            ("UPDATE photos SET user_id = NULL WHERE id = 1", "of a user who does not exist, by id: 1. Give them"),
            ("UPDATE photos SET user_id = 99", "of a user who does not exist, by id: 1, 2, 3. Give them"),
            ("DELETE FROM users WHERE id = 2", "of a user who does not exist, by id: 3. Give them an owner"),
        ]
    )
    func brokenRule(change: String, validationError: String) async throws {
        try await withRailsDatabase { url in
            try await RailsDatabase.run(change, url: url)
            let before = try await DatabaseDump.lines(url: url)
            let error = await #expect(throws: MigrationError.self) { try await migrator(url).up() }
            let description = try #require(error?.description)
            #expect(description.contains(validationError))
            #expect(description.contains("Nothing was changed."))
            #expect(!description.contains("@") && !description.contains("$2a$"))
            // The table that notes which files were applied is Selfie's own, and empty.
            #expect(try await DatabaseDump.lines(url: url, without: "migration_checksums") == before)
        }
    }

    @Test("All problems are reported at once")
    func allErrors() async throws {
        try await withRailsDatabase { url in
            try await RailsDatabase.run(
                "UPDATE users SET first_name = NULL, email = 'ADA@EXAMPLE.COM' WHERE id = 2; UPDATE photos SET title = NULL",
                url: url
            )
            let error = await #expect(throws: MigrationError.self) { try await migrator(url).up() }
            let description = try #require(error?.description)
            for part in ["(1, 2)", "last name, by id: 2.", "title, by id: 1, 2, 3."] {
                #expect(description.contains(part))
            }
        }
    }

    private static func users(_ url: String) async throws -> [String] {
        try await TestCluster.withClient(url) { client async throws in
            let rows = try await client.read(
                """
                SELECT concat_ws('|', id, first_name, last_name, email, password_hash, password_salt, created_at) AS line
                FROM users
                UNION SELECT concat_ws('|', id, name, title, image_url, user_id, random_id, created_at) FROM photos
                ORDER BY 1
                """
            )
            return try rows.map { try $0.decode("line") }
        }
    }

    private static func schema(of url: String) async throws -> [String] {
        try await DatabaseDump.lines(url: url, without: "migration_checksums").filter { !$0.contains("{") }
    }
}
