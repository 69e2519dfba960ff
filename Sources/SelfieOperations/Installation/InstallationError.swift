import ObjectStore
import Postgres

/// Why a command failed, or was not finished.
///
/// Each description says what to do.
package enum InstallationError: Error, CustomStringConvertible {
    /// The folder to read photos from does not exist.
    case noFolder(path: String)
    /// There are photos, but their bucket does not exist.
    case noBucket(name: String)
    /// A pooler is in front of the database, and a temporary table is needed.
    case pooler
    /// No photo has the id.
    case noSuchPhoto
    /// The database or the store failed.
    case outage(any Error)

    /// An error in words that say what to do, as far as it is one of the database or the store.
    static func explanation(of error: any Error) -> any Error {
        error is PostgresError || error is ObjectStoreError ? InstallationError.outage(error) : error
    }

    /// Refuses a connection on which temporary tables are lost, or left to others.
    static func refusePooler(of connection: PostgresConnection) async throws(InstallationError) {
        if await connection.isBehindPooler { throw .pooler }
    }

    package var description: String {
        switch self {
        case .pooler:
            """
            There is a pooler such as PgBouncer before the database, and this needs a session of its own. Run it with \
            the DATABASE_URL of the database itself. The service may keep running.
            """
        case .noSuchPhoto: "There is no photo with this random_id."
        case .noFolder(let path): "There is no folder \(path). Correct OBJECTS_PATH."
        case .noBucket(let name):
            "There is no bucket \(name). Correct S3_BUCKET_NAME, or the store's address and region."
        case .outage(let error):
            """
            \(Self.withoutPeriod("\(error)")). Run selfie doctor with the same settings (for a bucket without \
            OBJECTS_PATH): it says what to do.
            """
        }
    }

    /// A store's message is a sentence with a full stop; a system's message is not.
    private static func withoutPeriod(_ text: String) -> Substring {
        text.hasSuffix(".") ? text.dropLast() : text[...]
    }
}
