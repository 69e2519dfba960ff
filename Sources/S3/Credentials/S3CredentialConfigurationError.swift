/// Why a source of credentials can't be used as it is set; never holds a value.
package enum S3CredentialConfigurationError: Error, Hashable {
    /// The full URI is no `http` or `https` URL with a host and without a user.
    case fullURI
    /// The full URI has no TLS, and its host is neither this machine nor AWS's own.
    case fullURIHost
    /// The relative URI is not a path that begins with a slash.
    case relativeURI
    /// The token is empty or has characters that no header can hold.
    case token
    /// The metadata endpoint is no `http` or `https` URL of a host.
    case metadataEndpoint
    /// The role is no ARN of 20 to 2048 visible ASCII characters.
    case role
    /// The session's name does not have 2 to 64 letters, digits and `=,.@-_`.
    case sessionName
    /// The endpoint of the Security Token Service has no TLS, or is no URL of a host.
    case tokenServiceEndpoint
}

extension S3CredentialConfigurationError: CustomStringConvertible {
    /// One sentence for the person who set the value.
    package var description: String {
        switch self {
        case .fullURI: "the container's credentials URI is not an http or https URL"
        case .fullURIHost:
            "the container's credentials URI must be https, or http to localhost, a loopback address, 169.254.170.2, "
                + "169.254.170.23 or [fd00:ec2::23]"
        case .relativeURI: "the container's relative credentials URI is not a path that begins with a slash"
        case .token: "the container's authorization token is empty or has characters outside printable ASCII"
        case .metadataEndpoint: "the EC2 metadata endpoint is not an http or https URL of a host"
        case .role: "the role is not an ARN of 20 to 2048 visible ASCII characters"
        case .sessionName: "the role session's name does not have 2 to 64 letters, digits and '=,.@-_'"
        case .tokenServiceEndpoint: "the STS endpoint is not an https URL of a host, or http to this machine"
        }
    }
}
