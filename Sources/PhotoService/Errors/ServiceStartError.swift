/// Why the service could not start; each description says what to do.
package enum ServiceStartError: Error, CustomStringConvertible {
    case addressInUse(hostname: String, port: Int)
    /// The database lacks steps that this version of the service relies on.
    case pendingMigrations(count: Int)

    package var description: String {
        switch self {
        case .addressInUse(let hostname, let port):
            "Port \(port) of \(hostname) is in use. Stop what uses it, or choose another with --port or PORT."
        case .pendingMigrations(let count):
            "The database lacks \(count) migration\(count == 1 ? "" : "s"). Run: selfie migrate"
        }
    }
}
