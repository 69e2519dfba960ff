import Postgres

/// The state of the database in which numbers of changes were read.
///
/// Numbers of different epochs can't be compared, or only with care.
struct ChangeEpoch: Sendable, Equatable {
    /// A hash of the cluster, the database and its table of streams.
    ///
    /// A restored dump and a copy of the database have another one. A standby that is promoted has the same: whether it lacks
    /// changes is seen at the streams' ends, see ``StreamEnd``.
    let database: Int
    /// When PostgreSQL was started, in microseconds since 1970: an older copy of its folder may have been put back before.
    let postgresStart: Int
    /// The version of the schema; 0 before the first.
    let schemaVersion: Int
    /// The version of the last schema that removed records without numbers; 0 before the first.
    let clearedVersion: Int

    /// The columns of an epoch.
    static let columns: PostgresQuery = """
        hashtextextended(concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
            'streams'::regclass::oid, (SELECT oid FROM pg_database WHERE datname = current_database())), 0) & (1::bigint << 62) - 1 AS database_hash,
        \(part: StreamEnd.microseconds(of: "pg_postmaster_start_time()")) AS postgres_start,
        \(part: SchemaStore.versionColumn) AS schema_version, \(part: SchemaStore.clearedVersionColumn) AS cleared_version
        """
}

extension ChangeEpoch {
    /// Reads ``columns``.
    init(_ row: PostgresRow) throws {
        self.init(
            database: try row.decode("database_hash"),
            postgresStart: try row.decode("postgres_start"),
            schemaVersion: try row.decode("schema_version"),
            clearedVersion: try row.decode("cleared_version")
        )
    }
}
