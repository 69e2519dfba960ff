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
    /// The database or the store failed.
    case outage(any Error)

    /// An error in words that say what to do, as far as it is one of the database or the store.
    static func explanation(of error: any Error) -> any Error {
        error is PostgresError || error is ObjectStoreError ? InstallationError.outage(error) : error
    }

    package var description: String {
        switch self {
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
