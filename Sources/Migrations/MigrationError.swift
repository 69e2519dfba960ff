package import Postgres

/// Why migrations could not be read, planned or applied.
package enum MigrationError: Error {
    /// The database can't be reached; the text is libpq's reason.
    case unreachable(String)
    /// There is a pooler before the database, and the lock needs a session of its own.
    case pooler
    case unreadableDirectory(String)
    case unreadableFile(String)
    case invalidFileName(String)
    case missingMarker(fileName: String, marker: String)
    case duplicateVersion(String)
    /// Files that were changed after they were applied.
    case edited([Migration])
    /// A version to revert that has no file.
    case missingFile(version: String)
    /// A step that must not be reverted.
    case protected(Migration)
    /// A version to go back to that the database does not have.
    case notApplied(version: String)
    /// Another process has changed the database's version meanwhile.
    case changedMeanwhile
    case invalidName(String)
    case cannotWrite(String)
    /// A table that a step changes was in use all the time. All of it was rolled back.
    case busy(Migration)
    /// The database refused a step. All of it was rolled back.
    case failed(Migration, PostgresError)
}

extension MigrationError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .pooler:
            """
            There is a pooler such as PgBouncer before the database, and migrations need a session of their own. Run them \
            on the database itself.
            """
        case .unreachable(let reason): "The database can't be reached:\n\(reason)"
        case .unreadableDirectory(let path): "There is no readable folder of migrations at \(path)."
        case .unreadableFile(let path): "The migration \(path) can't be read as UTF-8 text."
        case .invalidFileName(let name):
            "\(name) is not named <14-digit version>_<name>.sql, with lower-case letters, digits and underscores."
        case .missingMarker(let fileName, let marker):
            "\(fileName) needs a line \"\(Migration.upMarker)\", then a line \"\(Migration.downMarker)\"; "
                + "\"\(marker)\" is missing or out of place."
        case .duplicateVersion(let version): "Two migrations have the version \(version)."
        case .edited(let migrations):
            "Edited after they were applied: \(migrations.map(\.fileName).joined(separator: ", ")). "
                + "Restore them, and put the change into a new migration."
        case .missingFile(let version):
            "Version \(version) was applied, but its file is missing. It can't be reverted."
        case .protected(let migration):
            "\(migration.fileName) would be reverted, and is protected. Nothing was changed."
        case .notApplied(let version): "The database has no version \(version)."
        case .changedMeanwhile: "Another process has changed the database's version meanwhile. Nothing was changed."
        case .invalidName(let name): "\(name) is not a name for a migration. Use letters, digits and underscores."
        case .cannotWrite(let path): "The file \(path) can't be written."
        case .busy(let migration):
            """
            \(migration.fileName) was rolled back, because a table that it changes was in use all the time. Look into \
            pg_stat_activity for a long transaction, such as a dump. Then migrate again.
            """
        case .failed(let migration, .server(let error)):
            "\(migration.fileName) failed and was rolled back (SQLSTATE \(error.sqlState.code)):\n\(error.message)"
        case .failed(let migration, let error): "\(migration.fileName) failed and was rolled back: \(error)."
        }
    }
}
