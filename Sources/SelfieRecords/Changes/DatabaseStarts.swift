import Postgres

/// The table `database_starts`: a mark for each start of PostgreSQL, which cursors carry.
///
/// No older state of a database can be brought back without a start, another database, or a new table of streams.
struct DatabaseStarts: Sendable {
    let postgres: PostgresClient

    /// The condition that a row of `database_starts` is of the present start.
    private static let isPresent: PostgresQuery = """
        started_at = pg_postmaster_start_time() AND table_oid = 'streams'::regclass::oid::bigint
        AND database_oid = \(part: databaseOID)
        """

    private static let databaseOID: PostgresQuery = """
        (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
        """

    /// Selects the mark of the present start; NULL where it has none yet.
    static let mark: PostgresQuery = "(SELECT mark FROM database_starts WHERE \(part: isPresent))"

    /// The columns `mark` and `is_same_database`.
    ///
    /// - Parameter mark: The mark of a cursor; nil for none.
    /// - Returns: The columns.
    static func columns(ofMark mark: Int?) -> PostgresQuery {
        """
        \(part: Self.mark) AS mark,
        coalesce((
            SELECT then_row.identity = now_row.identity FROM database_starts AS then_row
            JOIN (SELECT identity FROM database_starts WHERE \(part: isPresent)) AS now_row ON true
            WHERE then_row.mark = \(mark)
        ), false) AS is_same_database
        """
    }

    /// Selects a stream's last number that no older state of the database has given again since a cursor.
    ///
    /// It is that before the first start after the cursor's own. The statement has `streams`.
    ///
    /// - Parameter mark: The mark of a cursor; nil for none.
    /// - Returns: An expression.
    static func lastCommon(ofMark mark: Int?) -> PostgresQuery {
        guard let mark else { return "streams.seq" }
        return """
            coalesce((
                SELECT min(last_before) FROM stream_starts
                WHERE stream_id = streams.id AND start_id > (SELECT id FROM database_starts WHERE mark = \(mark))
            ), streams.seq)
            """
    }

    /// Gives the present start a mark, if it has none.
    ///
    /// The identity is that of the cluster, its timeline, the table and the database. A restored dump, a copied database, and
    /// a server that took another's place have others.
    ///
    /// - Throws: `PostgresError`.
    func note() async throws {
        try await postgres.write(
            """
            INSERT INTO database_starts (id, started_at, table_oid, database_oid, mark, identity)
            SELECT (SELECT coalesce(max(id), 0) + 1 FROM database_starts), pg_postmaster_start_time(),
                'streams'::regclass::oid::bigint, \(part: Self.databaseOID), \(Int.random(in: 1..<1 << 62)),
                concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
                    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), 'streams'::regclass::oid, \(part: Self.databaseOID))
            WHERE NOT EXISTS (SELECT FROM database_starts WHERE \(part: Self.isPresent))
            ON CONFLICT DO NOTHING
            """
        )
    }
}
