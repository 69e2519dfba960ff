import S3

extension SettingsReader {
    package mutating func objectStorage() -> ServiceConfiguration.ObjectStorage? {
        if let path = text("OBJECTS_PATH") { return .disk(path: path) }
        return bucket(hint: "or OBJECTS_PATH, to keep photos on disk").map { .s3($0) }
    }

    /// The database and both stores, for copying photos from one store to the other.
    package mutating func copying() -> CopyConfiguration? {
        let postgres = postgres()
        let path = required("OBJECTS_PATH", hint: "the folder to copy photos from or to")
        let bucket = bucket(hint: "the bucket to copy photos from or to")
        guard let postgres, let path, let bucket else { return nil }
        return CopyConfiguration(postgres: postgres, path: path, bucket: bucket)
    }

    private mutating func bucket(hint: String) -> ServiceConfiguration.Bucket? {
        let bucket = required("S3_BUCKET_NAME", hint: hint)
        let region = optional("AWS_REGION", "a text", default: "us-east-1") { $0 }
        let credentials = credentials(hasBucket: bucket != nil, region: region)
        let forcesPathStyle = boolean("S3_FORCE_PATH_STYLE", default: false)
        let endpoint = text("AWS_ENDPOINT_URL_S3")
        invalid += S3Configuration.errors(bucket: bucket, region: region, endpoint: endpoint).map(Self.invalidSetting)
        guard let bucket, let credentials,
            let configuration = try? S3Configuration(
                bucket: bucket,
                region: region,
                endpoint: endpoint,
                forcePathStyle: forcesPathStyle
            )
        else { return nil }
        return .init(configuration: configuration, credentials: credentials)
    }

    /// The source of credentials.
    ///
    /// The first that is set counts, as in AWS's tools: keys, a web identity, a container's endpoint, the instance's role.
    private mutating func credentials(hasBucket: Bool, region: String) -> S3CredentialSource? {
        let isOffInstance = boolean("AWS_EC2_METADATA_DISABLED", default: false)
        let instanceEndpoint = text("AWS_EC2_METADATA_SERVICE_ENDPOINT")
        let relativeURI = text("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", isSecret: true)
        let fullURI = text("AWS_CONTAINER_CREDENTIALS_FULL_URI", isSecret: true)
        let tokenPath = text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        let token = text("AWS_CONTAINER_AUTHORIZATION_TOKEN", isSecret: true)
        let identityTokenPath = text("AWS_WEB_IDENTITY_TOKEN_FILE")
        let role = text("AWS_ROLE_ARN")
        let sessionName = text("AWS_ROLE_SESSION_NAME")
        let tokenServiceEndpoint = text("AWS_ENDPOINT_URL_STS")

        let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
        if keys.contains(where: { source.value(of: $0) != nil }) { return fixedCredentials() }
        let authorization =
            tokenPath.map { ContainerCredentials.Authorization.file(path: $0) }
            ?? token.map { ContainerCredentials.Authorization.token($0) }
            ?? ContainerCredentials.Authorization.none
        do throws(S3CredentialConfigurationError) {
            if let identityTokenPath {
                guard let role = role ?? required("AWS_ROLE_ARN", hint: "the role of AWS_WEB_IDENTITY_TOKEN_FILE")
                else {
                    return nil
                }
                return .webIdentity(
                    try WebIdentityCredentials(
                        tokenPath: identityTokenPath,
                        role: role,
                        sessionName: sessionName,
                        region: region,
                        endpoint: tokenServiceEndpoint
                    )
                )
            }
            // AWS's tools use the full URI only if the relative one is not set.
            if let relativeURI {
                return .container(try ContainerCredentials(relativeURI: relativeURI, authorization: authorization))
            }
            if let fullURI {
                return .container(try ContainerCredentials(fullURI: fullURI, authorization: authorization))
            }
            // Without a bucket's name, the error names all keys that are usually needed.
            guard hasBucket, !isOffInstance else { return fixedCredentials() }
            return .instance(try InstanceCredentials(endpoint: instanceEndpoint))
        } catch {
            invalid.append(Self.invalidSetting(error))
            return nil
        }
    }

    private mutating func fixedCredentials() -> S3CredentialSource? {
        let hint = "or the role of a container on ECS or EKS, or of an EC2 instance with its metadata on"
        let accessKeyID = required("AWS_ACCESS_KEY_ID", isSecret: true, hint: hint)
        let secretAccessKey = required("AWS_SECRET_ACCESS_KEY", isSecret: true, hint: hint)
        let sessionToken = text("AWS_SESSION_TOKEN", isSecret: true)
        guard let accessKeyID, let secretAccessKey else { return nil }
        invalid += S3Credentials.errors(
            accessKeyID: accessKeyID,
            secretAccessKey: secretAccessKey,
            sessionToken: sessionToken
        ).map(Self.invalidSetting)
        return try? .fixed(
            S3Credentials(accessKeyID: accessKeyID, secretAccessKey: secretAccessKey, sessionToken: sessionToken)
        )
    }

    private static func invalidSetting(_ error: S3ConfigurationError) -> ConfigurationError.InvalidSetting {
        switch error {
        case .bucket: .malformed(key: "S3_BUCKET_NAME", expected: "the name of a bucket")
        case .region: .malformed(key: "AWS_REGION", expected: "the name of a region, such as eu-west-1")
        case .endpointNotHTTP, .endpointNotBare:
            .malformed(key: "AWS_ENDPOINT_URL_S3", expected: "an http:// or https:// URL of a host, without a path")
        case .accessKeyID: .malformed(key: "AWS_ACCESS_KEY_ID", expected: "visible ASCII characters")
        case .secretAccessKey: .malformed(key: "AWS_SECRET_ACCESS_KEY", expected: "visible ASCII characters")
        case .sessionToken: .malformed(key: "AWS_SESSION_TOKEN", expected: "visible ASCII characters")
        }
    }

    private static func invalidSetting(_ error: S3CredentialConfigurationError) -> ConfigurationError.InvalidSetting {
        switch error {
        case .fullURI:
            .malformed(key: "AWS_CONTAINER_CREDENTIALS_FULL_URI", expected: "an http:// or https:// URL")
        case .fullURIHost:
            .malformed(
                key: "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                expected: "https://, or http:// to localhost, a loopback address, 169.254.170.2, 169.254.170.23 or "
                    + "[fd00:ec2::23]"
            )
        case .relativeURI:
            .malformed(key: "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", expected: "a path that begins with a slash")
        case .token:
            .malformed(key: "AWS_CONTAINER_AUTHORIZATION_TOKEN", expected: "printable ASCII characters in one line")
        case .metadataEndpoint:
            .malformed(key: "AWS_EC2_METADATA_SERVICE_ENDPOINT", expected: "an http:// or https:// URL of a host")
        case .role: .malformed(key: "AWS_ROLE_ARN", expected: "the ARN of a role")
        case .sessionName:
            .malformed(key: "AWS_ROLE_SESSION_NAME", expected: "2 to 64 letters, digits and =,.@-_")
        case .tokenServiceEndpoint:
            .malformed(key: "AWS_ENDPOINT_URL_STS", expected: "an https:// URL, or http:// to this machine")
        }
    }
}
