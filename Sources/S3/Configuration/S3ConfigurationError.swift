/// Why a bucket's configuration or its keys cannot be used; never holds a secret.
package enum S3ConfigurationError: Error, Hashable {
    /// The access key's id is empty or holds a space, a control character or something outside ASCII.
    case accessKeyID
    /// The secret key is empty or holds a space, a control character or something outside ASCII.
    case secretAccessKey
    /// The session token is empty or holds a space, a control character or something outside ASCII.
    case sessionToken
    /// The name breaks AWS's rules ("General purpose bucket naming rules").
    case bucket(String)
    /// The region is empty or holds something besides ASCII letters, digits and `-`.
    case region(String)
    /// The endpoint is no `http` or `https` URL with a host.
    case endpointNotHTTP
    /// The endpoint has a path, a query, a fragment or a user: only scheme, host and port are used.
    case endpointNotBare
}

extension S3ConfigurationError: CustomStringConvertible {
    /// One sentence for the person who set the value.
    package var description: String {
        switch self {
        case .accessKeyID: "the S3 access key's id is empty or has characters outside visible ASCII"
        case .secretAccessKey: "the S3 secret access key is empty or has characters outside visible ASCII"
        case .sessionToken: "the S3 session token is empty or has characters outside visible ASCII"
        case .bucket(let name): "'\(name)' is not a bucket's name: 3 to 63 of a-z, 0-9, '-' and '.'"
        case .region(let name): "'\(name)' is not a region's name"
        case .endpointNotHTTP: "the S3 endpoint is not an http or https URL"
        case .endpointNotBare: "the S3 endpoint may have a scheme, a host and a port, and nothing else"
        }
    }
}
