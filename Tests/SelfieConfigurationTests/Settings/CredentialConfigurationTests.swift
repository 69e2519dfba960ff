import S3
import Testing

@testable import SelfieConfiguration

@Suite("Where the bucket's keys come from")
struct CredentialConfigurationTests {
    private static let keys = ["AWS_ACCESS_KEY_ID": "sesame-1", "AWS_SECRET_ACCESS_KEY": "sesame-2"]
    private static let full = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/sesame-3"]
    private static let relative = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/sesame-4"]
    private static let identity = [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/selfie",
    ]
    private static let off = ["AWS_EC2_METADATA_DISABLED": "true"]

    private static func read(
        _ settings: [String: String],
        bucket: String = "selfies"
    ) -> Result<ServiceConfiguration, ConfigurationError> {
        let values = [
            "DATABASE_URL": "postgresql://localhost/selfie", "API_AUTH_NAME": "name", "API_AUTH_PASSWORD": "password",
            "SECRET_KEY_BASE": "0123456789-0123456789-0123456789", "S3_BUCKET_NAME": bucket,
        ]
        do throws(ConfigurationError) {
            let source = ConfigurationSource(values: values.merging(settings) { $1 })
            return .success(try ServiceConfiguration(from: source))
        } catch {
            return .failure(error)
        }
    }

    private static func invalidSettings(_ result: Result<ServiceConfiguration, ConfigurationError>) -> [String] {
        guard case .failure(let error) = result else { return [] }
        return error.invalidSettings.map { problem in
            switch problem {
            case .missing(let key, _): "\(key) is missing"
            case .malformed(let key, _): "\(key) is malformed"
            }
        }
    }

    @Test(
        "Keys that are set win, then a web identity, then the container's endpoint, then the instance's role",
        arguments: [
            (keys, .fixed), (keys.merging(full) { $1 }.merging(relative) { $1 }.merging(off) { $1 }, .fixed),
            (keys.merging(["AWS_SESSION_TOKEN": "sesame"]) { $1 }, .fixed),
            (identity, .webIdentity), (identity.merging(full) { $1 }.merging(off) { $1 }, .webIdentity),
            (identity.merging(keys) { $1 }, .fixed),
            (["AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/selfie"], .instance),
            (full, .container), (relative, .container), (full.merging(off) { $1 }, .container),
            // The relative URI wins, so the other one does not count.
            (relative.merging(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://elsewhere/"]) { $1 }, .container),
            ([:], .instance), (["AWS_EC2_METADATA_DISABLED": "false"], .instance),
            (["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""], .instance),
            (["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://[fd00:ec2::254]"], .instance),
        ] as [([String: String], S3CredentialOrigin)]
    )
    func order(settings: [String: String], origin: S3CredentialOrigin) throws {
        guard case .s3(let bucket) = try Self.read(settings).get().objectStorage else {
            Issue.record("not S3")
            return
        }
        #expect(bucket.credentials.origin == origin)
    }

    @Test(
        "One key without the other is missing, whatever else could give both",
        arguments: [
            (["AWS_ACCESS_KEY_ID": "sesame"], ["AWS_SECRET_ACCESS_KEY is missing"]),
            (["AWS_SECRET_ACCESS_KEY": "sesame"], ["AWS_ACCESS_KEY_ID is missing"]),
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "/token"], ["AWS_ROLE_ARN is missing"]),
            (identity.merging(["AWS_ROLE_ARN": "role"]) { $1 }, ["AWS_ROLE_ARN is malformed"]),
            (identity.merging(["AWS_ROLE_SESSION_NAME": "a b"]) { $1 }, ["AWS_ROLE_SESSION_NAME is malformed"]),
            (identity.merging(["AWS_ENDPOINT_URL_STS": "http://sts"]) { $1 }, ["AWS_ENDPOINT_URL_STS is malformed"]),
            (
                ["AWS_SESSION_TOKEN": "sesame"],
                ["AWS_ACCESS_KEY_ID is missing", "AWS_SECRET_ACCESS_KEY is missing"]
            ),
        ]
    )
    func half(settings: [String: String], invalidSettings: [String]) {
        #expect(Self.invalidSettings(Self.read(settings.merging(Self.full) { $1 })) == invalidSettings)
        #expect(Self.invalidSettings(Self.read(settings)) == invalidSettings)
    }

    @Test("Without keys, container and metadata both keys are missing, with what would do instead")
    func nothing() throws {
        let result = Self.read(Self.off)
        #expect(Self.invalidSettings(result) == ["AWS_ACCESS_KEY_ID is missing", "AWS_SECRET_ACCESS_KEY is missing"])
        let error = try #require(throws: ConfigurationError.self) { try result.get() }
        #expect("\(error)".contains("AWS_ACCESS_KEY_ID is missing (or the role of a container"))
    }

    @Test("Without a bucket's name, the missing keys are reported at the same time")
    func newcomer() {
        #expect(
            Self.invalidSettings(Self.read([:], bucket: "")) == [
                "S3_BUCKET_NAME is missing", "AWS_ACCESS_KEY_ID is missing", "AWS_SECRET_ACCESS_KEY is missing",
            ]
        )
        #expect(Self.invalidSettings(Self.read(Self.full, bucket: "")) == ["S3_BUCKET_NAME is missing"])
    }

    @Test(
        "A malformed value is named by its key and never shown",
        arguments: [
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://sesame.example/"),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "sesame"),
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "sesame"),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "sesame\r\nX: a"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "sesame"),
            ("AWS_EC2_METADATA_DISABLED", "sesame"),
        ]
    )
    func malformed(key: String, value: String) {
        let isToken = key == "AWS_CONTAINER_AUTHORIZATION_TOKEN"
        let result = Self.read([key: value].merging(isToken ? Self.full : [:]) { $1 })
        #expect(Self.invalidSettings(result) == ["\(key) is malformed"])
        #expect(!"\(result)".contains("sesame"))
    }

    @Test("The file of the token wins over the token, which is then not looked at")
    func tokenFile() throws {
        let settings = [
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/nowhere", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "sesame\r\n",
        ]
        #expect(throws: Never.self) { try Self.read(settings.merging(Self.full) { $1 }).get() }
    }

    @Test("No secret shows when the configuration is dumped")
    func redaction() throws {
        for settings in [Self.keys, Self.full, Self.relative] {
            let token = ["AWS_CONTAINER_AUTHORIZATION_TOKEN": "sesame-5"]
            let configuration = try Self.read(settings.merging(token) { $1 }).get()
            var dumped = "\(configuration) \(String(reflecting: configuration))"
            dump(configuration, to: &dumped)
            dump(configuration.objectStorage, to: &dumped)
            #expect(!dumped.contains("sesame"))
        }
    }
}
