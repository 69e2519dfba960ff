/// Why nothing could be done from the command line, or not all of it; each description says what to do.
package enum InstallationError: Error, CustomStringConvertible {
    /// The folder that photos are read from is not there.
    case noFolder(path: String)
    /// There are photos, and the bucket that they are to be in is not there.
    case noBucket(name: String)
    /// The database or the store does not do what it is asked.
    case outage(any Error)

    package var description: String {
        switch self {
        case .noFolder(let path): "There is no folder \(path). Correct OBJECTS_PATH."
        case .noBucket(let name):
            "There is no bucket \(name). Correct S3_BUCKET_NAME and what else names the store."
        case .outage(let error):
            """
            \(Self.withoutPeriod("\(error)")). Run selfie doctor with the same settings (for a bucket without \
            OBJECTS_PATH): it says what to do.
            """
        }
    }

    /// What stores say is a sentence, and what systems say is none.
    private static func withoutPeriod(_ text: String) -> Substring {
        text.hasSuffix(".") ? text.dropLast() : text[...]
    }
}
