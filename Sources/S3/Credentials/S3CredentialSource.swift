/// Where the keys that sign requests come from.
package enum S3CredentialSource: Sendable {
    /// Keys from the settings, which never change.
    case fixed(S3Credentials)
    /// A role that another provider's token gives, such as a service account's on EKS.
    case webIdentity(WebIdentityCredentials)
    /// A container's endpoint, such as on ECS and EKS.
    case container(ContainerCredentials)
    /// The role of an EC2 instance.
    case instance(InstanceCredentials)

    /// Which kind it is, for messages.
    package var origin: S3CredentialOrigin {
        switch self {
        case .fixed: .fixed
        case .webIdentity: .webIdentity
        case .container: .container
        case .instance: .instance
        }
    }

    /// Asks once.
    func fetch(over exchange: CredentialExchange) async throws(S3CredentialFailure) -> S3Credentials {
        switch self {
        case .fixed(let credentials): credentials
        case .webIdentity(let identity): try await identity.fetch(over: exchange)
        case .container(let container): try await container.fetch(over: exchange)
        case .instance(let instance): try await instance.fetch(over: exchange)
        }
    }
}

/// The kinds of ``S3CredentialSource``.
package enum S3CredentialOrigin: Sendable, Hashable {
    /// Keys that were set.
    case fixed
    /// A role that another provider's token gives.
    case webIdentity
    /// A container's endpoint.
    case container
    /// The role of an EC2 instance.
    case instance
}
