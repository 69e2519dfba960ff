/// Where trusted certificates come from.
package enum TrustSource: Sendable, Hashable {
    /// libssl's default: on Debian, those of the package `ca-certificates`.
    case system
    /// A file with certificates in PEM, such as `SSL_CERT_FILE` names.
    case file(path: String)

    /// - Parameter environment: Such as `ProcessInfo`'s.
    package init(_ environment: [String: String]) {
        self = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : .file(path: $0) } ?? .system
    }
}
