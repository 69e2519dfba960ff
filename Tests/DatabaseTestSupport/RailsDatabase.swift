import Postgres

/// A database as `railsauth`'s three migrations and some years of use left it.
package enum RailsDatabase {
    /// The versions that Rails applied.
    package static let versions = ["20140826080603", "20140828132607", "20140828141051"]
    package static let password = "my password"
    package static let otherPassword = "dreizehn Äpfel"
    package static let liveToken = "hKuPzTtVYcTGMRY9s4fnkUWUjgV4YpBGVvLzzNuqqoA0"
    package static let expiredToken = "8fRZ5Ym3nUuPqWzXc2vBnMqSdFgHjKlPoIuYtReWqAs1"
    /// Whole hashes of the two passwords, made with libcrypt.
    package static let passwordHash = "$2a$10$N9qo8uLOickgx2ZMRZoMye7Eq8k9QP5lJ/vrjpvFt/yLYzIvpfbVe"
    package static let otherPasswordHash = "$2a$10$abcdefghijklmnopqrstuu1CA1mCkbY0.oSxXVjJ08cZ9eTQcHo.y"

    package static let email = "ada@example.com"
    package static let otherEmail = "Grace.Hopper@Example.com"
    /// The keys in the bucket of the first user's photos, in order.
    package static let photoIDs = [
        "SvFpLv1eJ2AtBVFjWcqRMBkYq4bTQQyQjXmUQv8Kd1A", "Zk3pLv1eJ2AtBVFjWcqRMBkYq4bTQQyQjXmUQv8Kd1B",
    ]
    package static let otherPhotoID = "Qq9pLv1eJ2AtBVFjWcqRMBkYq4bTQQyQjXmUQv8Kd1C"

    /// Makes the tables, by the statements that ActiveRecord 4.1 sends to PostgreSQL.
    ///
    /// - Parameter url: An empty database.
    /// - Throws: `PostgresError`.
    package static func makeTables(url: String) async throws {
        let rails = versions.map { "INSERT INTO schema_migrations (version) VALUES ('\($0)');" }.joined(separator: "\n")
        try await run(
            """
            CREATE TABLE "schema_migrations" ("version" character varying(255) NOT NULL);
            CREATE UNIQUE INDEX "unique_schema_migrations" ON "schema_migrations" ("version");
            CREATE TABLE "users" ("id" serial primary key, "first_name" character varying(255),
                "last_name" character varying(255), "email" character varying(255),
                "password_hash" character varying(255), "password_salt" character varying(255),
                "email_verification" boolean DEFAULT 'f', "verification_code" character varying(255),
                "api_authtoken" character varying(255), "authtoken_expiry" timestamp,
                "created_at" timestamp, "updated_at" timestamp);
            CREATE TABLE "photos" ("id" serial primary key, "name" character varying(255),
                "title" character varying(255), "image_url" character varying(255), "user_id" integer,
                "created_at" timestamp, "updated_at" timestamp);
            ALTER TABLE "photos" ADD COLUMN "random_id" character varying(255);
            \(rails)
            """,
            url: url
        )
    }

    /// Makes the tables and puts in two users, one with a live and one with an expired token, and three photos.
    ///
    /// - Parameter url: An empty database.
    /// - Throws: `PostgresError`.
    package static func make(url: String) async throws {
        try await makeTables(url: url)
        let date = "timestamp '2014-09-01 10:11:12.131415'"
        let photos = photoIDs.enumerated().map { number, id in photo(id: number + 1, user: 1, randomID: id) }
        try await run(
            """
            INSERT INTO users (first_name, last_name, email, password_hash, password_salt, api_authtoken,
                authtoken_expiry, created_at, updated_at)
            VALUES ('Ada', 'Lovelace', '\(email)', '\(passwordHash)', '\(passwordHash.prefix(29))', '\(liveToken)',
                    now() AT TIME ZONE 'UTC' + interval '20 hours', \(date), \(date)),
                ('Grace', 'Hopper', '\(otherEmail)', '\(otherPasswordHash)', '\(otherPasswordHash.prefix(29))',
                    '\(expiredToken)', now() AT TIME ZONE 'UTC' - interval '1 minute', \(date), \(date)),
                ('Alan', 'Turing', 'alan@example.com', '\(passwordHash)', NULL, NULL, NULL, \(date), \(date));
            \(photos.joined(separator: "\n"))
            \(photo(id: 3, user: 2, randomID: otherPhotoID))
            SELECT setval('photos_id_seq', 3);
            """,
            url: url
        )
    }

    /// Runs statements.
    ///
    /// - Parameters:
    ///   - script: The statements, a test's own text.
    ///   - url: The database.
    /// - Throws: `PostgresError`.
    package static func run(_ script: String, url: String) async throws {
        try await PostgresClient.withClient(configuration: .patient(url: url)) { client in
            try await client.withConnection { try await $0.execute(script: script) }
        }
    }

    private static func photo(id: Int, user: Int, randomID: String) -> String {
        """
        INSERT INTO photos (id, name, title, image_url, user_id, created_at, updated_at, random_id)
        VALUES (\(id), 'photo', 'Old photo \(id)', 'https://bucket.s3.amazonaws.com/\(randomID)', \(user),
            timestamp '2014-09-02', timestamp '2014-09-02', '\(randomID)');
        """
    }
}

/// All that a database holds, as text: tables, indexes, constraints and rows.
package enum DatabaseDump {
    /// Reads a database.
    ///
    /// - Parameters:
    ///   - url: The database.
    ///   - excluded: A table to leave out.
    /// - Returns: Lines in a fixed order.
    /// - Throws: `PostgresError`.
    package static func lines(url: String, without excluded: String = "") async throws -> [String] {
        try await PostgresClient.withClient(configuration: .patient(url: url)) { client in
            try await client.withConnection { try await lines(on: $0, without: excluded) }
        }
    }

    private static func lines(on connection: PostgresConnection, without excluded: String) async throws -> [String] {
        let tables = try await texts(
            "SELECT tablename::text AS line FROM pg_tables WHERE schemaname = 'public' AND tablename <> \(excluded) ORDER BY 1",
            on: connection
        )
        var lines = try await texts(
            """
            SELECT concat_ws(' ', table_name, column_name, data_type, character_maximum_length, is_nullable,
                column_default) AS line
            FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> \(excluded) ORDER BY 1
            """,
            on: connection
        )
        lines += try await texts(
            "SELECT indexdef AS line FROM pg_indexes WHERE schemaname = 'public' AND tablename <> \(excluded) ORDER BY 1",
            on: connection
        )
        lines += try await texts(
            """
            SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line FROM pg_constraint
            WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> \(excluded) ORDER BY 1
            """,
            on: connection
        )
        for table in tables {
            let query = PostgresQuery(
                stringLiteral: "SELECT row_to_json(t)::text AS line FROM \"\(table)\" AS t ORDER BY 1"
            )
            lines += try await texts(query, on: connection).map { "\(table) \($0)" }
        }
        return lines
    }

    private static func texts(_ query: PostgresQuery, on connection: PostgresConnection) async throws -> [String] {
        try await connection.query(query).map { try $0.decode("line") }
    }
}
