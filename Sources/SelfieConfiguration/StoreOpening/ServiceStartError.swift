import Encodings

/// Why the service could not start; each description says what to do.
package enum ServiceStartError: Error, CustomStringConvertible {
    case addressInUse(hostname: String, port: Int)
    /// The port for metrics is taken.
    case metricsAddressInUse(host: String, port: Int)
    /// The database lacks migrations that this version needs.
    case pendingMigrations(count: Int)
    /// No keys for the bucket were set, and no other source gave any.
    case noCredentials(any Error)
    /// The folder for photos can't be made or written to.
    case folder(path: String, reason: String)

    package var description: String {
        switch self {
        case .addressInUse(let hostname, let port):
            "Port \(port) of \(hostname) is in use. Stop what uses it, or choose another with --port or PORT."
        case .metricsAddressInUse(let host, let port):
            "Port \(port) of \(host) is in use, where the metrics would be. Set METRICS_PORT to another."
        case .pendingMigrations(let count):
            "The database lacks \(counted(count, "migration")). Run: selfie migrate"
        case .noCredentials(let error):
            """
            There are no keys for the bucket. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set; asked instead, \
            \(error). Set both keys, or give the container or the EC2 instance a role that may use the bucket.
            """
        case .folder(let path, let reason):
            """
            The folder \(path) of OBJECTS_PATH can't be used: \(reason). Name another, or have the user that runs Selfie \
            own it.
            """
        }
    }
}
