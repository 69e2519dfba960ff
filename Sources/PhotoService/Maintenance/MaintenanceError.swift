/// Why nothing was done from the command line; each description says what to do.
package enum MaintenanceError: Error, CustomStringConvertible {
    /// The folder that photos are read from is not there.
    case noFolder(path: String)
    /// There are photos, and the bucket that they are to be in is not there.
    case noBucket(name: String)

    package var description: String {
        switch self {
        case .noFolder(let path): "There is no folder \(path). Correct OBJECTS_PATH."
        case .noBucket(let name):
            "There is no bucket \(name). Correct S3_BUCKET_NAME and what else names the store."
        }
    }
}
