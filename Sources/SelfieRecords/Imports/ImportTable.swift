import Postgres

/// The tables `record_imports` and `unresolved_imports`: how far imports have come.
///
/// A file is known by its SHA-256 digest, 64 hexadecimal digits.
enum ImportTable {
    /// How many lines of a file were imported; 0 for a new one.
    ///
    /// - Throws: `PostgresError`.
    static func lineCount(of file: String, _ postgres: PostgresClient) async throws -> Int {
        let rows = try await postgres.read(
            "SELECT line_count FROM record_imports WHERE digest = decode(\(file), 'hex')"
        )
        return try rows.first?.decode("line_count") ?? 0
    }

    /// Locks the row of an import, so that nobody else imports the file meanwhile.
    ///
    /// - Throws: ``ImportedElsewhere`` if it has another number of lines by now, `PostgresError`.
    static func lock(_ file: String, at lineCount: Int, on connection: PostgresConnection) async throws {
        try await connection.execute(
            "INSERT INTO record_imports (digest) VALUES (decode(\(file), 'hex')) ON CONFLICT DO NOTHING"
        )
        let rows = try await connection.query(
            "SELECT line_count FROM record_imports WHERE digest = decode(\(file), 'hex') FOR UPDATE"
        )
        guard try rows.first?.decode("line_count") == lineCount else { throw ImportedElsewhere() }
    }

    /// Notes how far it has come, with the records that refer to what is not there yet.
    ///
    /// - Throws: `PostgresError`.
    static func move(
        _ file: String,
        to lineCount: Int,
        unresolved keys: [Int],
        on connection: PostgresConnection
    ) async throws {
        try await connection.execute(
            """
            WITH noted AS (
                INSERT INTO unresolved_imports (digest, record_key) SELECT decode(\(file), 'hex'), unnest(\(keys))
            )
            UPDATE record_imports SET line_count = \(lineCount) WHERE digest = decode(\(file), 'hex')
            """
        )
    }

    /// The next records whose references are to be looked up again.
    ///
    /// - Throws: `PostgresError`.
    static func unresolved(
        _ file: String,
        after key: Int,
        count: Int,
        on connection: PostgresConnection
    ) async throws -> [Int] {
        try await connection.query(
            """
            SELECT record_key FROM unresolved_imports WHERE digest = decode(\(file), 'hex') AND record_key > \(key)
            ORDER BY record_key LIMIT \(count)
            """
        ).map { try $0.decode("record_key") }
    }

    /// Forgets an import that is finished.
    ///
    /// - Throws: `PostgresError`.
    static func forget(_ file: String, _ postgres: PostgresClient) async throws {
        try await postgres.write("DELETE FROM record_imports WHERE digest = decode(\(file), 'hex')")
    }
}

/// Another process imports the same file.
package struct ImportedElsewhere: Error {}
