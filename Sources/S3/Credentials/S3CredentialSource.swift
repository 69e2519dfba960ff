import AsyncHTTPClient

/// Where the keys that sign requests come from.
package enum S3CredentialSource: Sendable {
    /// Keys from the settings, which never change.
    case fixed(S3Credentials)
    /// A container's endpoint, such as on ECS and EKS.
    case container(ContainerCredentials)
    /// The role of an EC2 instance.
    case instance(InstanceCredentials)

    /// Which kind it is, for messages.
    package var origin: S3CredentialOrigin {
        switch self {
        case .fixed: .fixed
        case .container: .container
        case .instance: .instance
        }
    }

    /// Asks once.
    func fetch(over exchange: CredentialExchange) async throws(S3CredentialFailure) -> S3Credentials {
        switch self {
        case .fixed(let credentials): credentials
        case .container(let container): try await container.fetch(over: exchange)
        case .instance(let instance): try await instance.fetch(over: exchange)
        }
    }
}

/// The kinds of ``S3CredentialSource``.
package enum S3CredentialOrigin: Sendable, Hashable {
    /// Keys that were set.
    case fixed
    /// A container's endpoint.
    case container
    /// The role of an EC2 instance.
    case instance
}
