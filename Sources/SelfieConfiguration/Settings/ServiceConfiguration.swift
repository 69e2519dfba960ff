package import Budgets
package import Logging
package import Postgres
package import S3
package import SelfieAccounts
package import SelfiePhotos
import SelfieRecords
package import Webhooks

/// The checked settings of the service.
package struct ServiceConfiguration: Sendable {
    /// From `DATABASE_POOL_SIZE` and the keys that begin with `DATABASE_URL`.
    package var postgres: PostgresConfiguration
    /// Whether `DATABASE_URL_READ` is set.
    package var readsStandby: Bool { postgres.standbyURL != nil }
    /// From `API_AUTH_NAME` and `API_AUTH_PASSWORD`.
    package let apiCredential: APICredential
    /// From `SECRET_KEY_BASE`.
    package let secretKeyBase: String
    /// From `OBJECTS_PATH`, or from the keys of the bucket.
    package let objectStorage: ObjectStorage
    /// From `PHOTO_DELIVERY`.
    package let photoDelivery: PhotoDelivery
    /// From `PHOTO_METADATA`.
    package let photoMetadata: PhotoMetadata
    /// From `PUBLIC_URL`, without a slash at its end.
    package let publicURL: String?
    /// From `PORT`; 0 for any free port.
    package let port: Int
    /// From `UPLOAD_BYTES_MAX`.
    package let maxUploadBytes: Int
    /// From `TOKEN_LIFETIME_HOURS`.
    package let tokenLifetimeHours: Int
    /// From `REMEMBERED_LIFETIME_DAYS`.
    package let rememberedLifetimeDays: Int
    /// From `PASSWORD_HASH_COST`.
    package let passwordHashCost: Int
    /// From `GET_TOKEN_WITHOUT_PASSWORD`.
    package let getsTokenWithoutPassword: Bool
    /// From `RATE_LIMITS` and the keys that begin with `RATE_LIMIT_`; nil for none.
    package let rateLimits: RateLimits?
    /// The same for an account's codes, which have six digits only: `RATE_LIMITS` does not turn them off.
    package let codeLimits: RateLimits
    /// From `SMTP_URL` and the settings of mails; nil when no mail is sent.
    package let mail: MailSettings?
    /// From the settings that begin with `APNS_` and `FCM_`, and from `PUSH_CONTENTS`.
    package let push: PushSettings
    /// The folder that gets all that would go out, for development; nil for none.
    package let outbox: String?
    /// From `WEBHOOK_NETWORKS`: where webhooks may lead, beside the public.
    package let webhookNetworks: WebhookNetworks
    /// From `VERIFIED_EMAIL`: whether a sign-in needs an address that is proven.
    package let needsVerifiedEmail: Bool
    /// From `SIGNUP_WITHOUT_PASSWORD`.
    package let signsUpWithoutPassword: Bool
    /// From `AUDIT_RETENTION_DAYS`.
    package let auditRetentionDays: Int
    /// From `RECORDS_QUOTA_MB`: the bytes of data that a user's records may have.
    package let recordsQuotaBytes: Int
    /// From `PHOTOS_PER_USER_MAX` and `STORAGE_PER_USER_MAX`.
    package let photoQuota: PhotoQuota
    /// From `UPLOADS_AT_ONCE_MAX` and `UPLOADS_AT_ONCE_PER_USER_MAX`.
    package let uploadLimits: PermitLimits
    /// From `RENDITIONS_AT_ONCE`: how many small pictures are made at once; 0 for none.
    package let renditionsAtOnce: Int
    /// From `DOWNLOADS_AT_ONCE_MAX`; nil when it is not set.
    package let maxDownloads: Int?
    /// From `DOWNLOADS_AT_ONCE_PER_ADDRESS_MAX`; nil when it is not set.
    package let maxDownloadsPerAddress: Int?
    /// From `CONNECTIONS_MAX`; nil when it is not set.
    package let maxConnections: Int?
    /// From `CONNECTIONS_PER_ADDRESS_MAX`; nil when it is not set.
    package let maxConnectionsPerAddress: Int?
    /// From `TRUSTED_PROXIES`, or from `DYNO`, which Heroku sets.
    package let trustedProxies: TrustedProxies
    /// From `LOG_LEVEL`.
    package let logLevel: Logger.Level
    /// From `LOG_FORMAT`.
    package let logFormat: LogFormat
    /// From `METRICS_PORT` and `METRICS_HOST`; nil when no port is set.
    package let metricsAddress: MetricsAddress?
    /// From the keys that begin with `OTEL_`; nil when spans go nowhere.
    package let traces: TracesSettings?
    /// From `CORS_ORIGINS`: the origins whose pages may call the API.
    package let corsOrigins: Set<String>
    /// From `GALLERY`: whether browsers get a gallery.
    package let hasGallery: Bool
    /// From `DIRECTORY`: whether members may list all members.
    package let hasDirectory: Bool
    /// From `DREAMFACTORY`: whether clients of DreamFactory find its routes.
    package let servesDreamFactory: Bool
    /// From `PUBLIC_DOCS`: whether anybody may read the API's description.
    package let hasPublicDocs: Bool
    /// The values that differ from the default, by key, without secrets.
    package let differingSettings: [String: String]

    /// Where photos' bytes are stored.
    package enum ObjectStorage: Sendable {
        case disk(path: String)
        case s3(Bucket)
    }

    /// A bucket, and where its keys come from.
    package struct Bucket: Sendable {
        package let configuration: S3Configuration
        package let credentials: S3CredentialSource
    }

    /// Whether devices can get pushes.
    package var sendsPushes: Bool { outbox != nil || push.apns != nil || push.fcm != nil }

    /// Reads all settings of the service.
    ///
    /// - Parameters:
    ///   - source: Environment and `.env` file.
    ///   - outbox: A folder that gets all that would go out, for development; nil for none.
    /// - Throws: `ConfigurationError` with the name of every setting that is missing or malformed.
    package init(from source: ConfigurationSource, outbox: String? = nil) throws(ConfigurationError) {
        var settings = SettingsReader(source)
        try self.init(from: &settings, outbox: outbox)
    }

    init(from settings: inout SettingsReader, outbox: String? = nil) throws(ConfigurationError) {
        let postgres = settings.postgres()
        let apiCredential = settings.apiCredential()
        let secretKeyBase = settings.secretKeyBase()
        let objectStorage = settings.objectStorage()
        photoDelivery = settings.photoDelivery()
        photoMetadata = settings.optional("PHOTO_METADATA", "strip or keep", default: .strip) {
            PhotoMetadata(rawValue: $0)
        }
        publicURL = settings.optional("PUBLIC_URL", "an http:// or https:// URL", parse: SettingsReader.origin)
        port = settings.port()
        maxUploadBytes = settings.maxUploadBytes()
        tokenLifetimeHours = settings.integer("TOKEN_LIFETIME_HOURS", in: 1...(365 * 24), default: 24)
        rememberedLifetimeDays = settings.integer("REMEMBERED_LIFETIME_DAYS", in: 1...3_650, default: 90)
        passwordHashCost = settings.passwordHashCost()
        getsTokenWithoutPassword = settings.boolean("GET_TOKEN_WITHOUT_PASSWORD", default: false)
        let limits = settings.rateLimits()
        codeLimits = limits.limits
        rateLimits = limits.areOn ? limits.limits : nil
        self.outbox = outbox
        mail = settings.mail(outbox: outbox)
        push = settings.push()
        webhookNetworks = settings.webhookNetworks()
        needsVerifiedEmail = settings.needsVerifiedEmail(hasMail: mail != nil)
        signsUpWithoutPassword = settings.signsUpWithoutPassword(hasMail: mail != nil)
        auditRetentionDays = settings.integer("AUDIT_RETENTION_DAYS", in: 30...3650, default: 365)
        photoQuota = settings.photoQuota()
        recordsQuotaBytes = settings.recordsQuotaBytes()
        uploadLimits = settings.uploadLimits()
        renditionsAtOnce = settings.renditionsAtOnce()
        maxDownloads = settings.integer("DOWNLOADS_AT_ONCE_MAX", in: 1...100_000)
        maxDownloadsPerAddress = settings.integer("DOWNLOADS_AT_ONCE_PER_ADDRESS_MAX", in: 1...100_000)
        maxConnections = settings.integer("CONNECTIONS_MAX", in: 32...1_000_000)
        maxConnectionsPerAddress = settings.integer("CONNECTIONS_PER_ADDRESS_MAX", in: 1...1_000_000)
        trustedProxies = settings.trustedProxies()
        logLevel = settings.logLevel()
        logFormat = settings.logFormat()
        metricsAddress = settings.metricsAddress()
        traces = settings.traces()
        corsOrigins = settings.corsOrigins()
        hasGallery = settings.boolean("GALLERY", default: false)
        hasDirectory = settings.hasDirectory()
        servesDreamFactory = settings.boolean("DREAMFACTORY", default: false)
        hasPublicDocs = settings.boolean("PUBLIC_DOCS", default: true)
        differingSettings = settings.differing
        guard settings.invalid.isEmpty, let postgres, let apiCredential, let secretKeyBase, let objectStorage else {
            throw ConfigurationError(invalidSettings: settings.invalid)
        }
        self.postgres = postgres
        self.apiCredential = apiCredential
        self.secretKeyBase = secretKeyBase
        self.objectStorage = objectStorage
    }
}

extension ConfigurationSource {
    /// Reads some settings, such as `source.read { $0.postgres() }`.
    ///
    /// - Parameter settings: Reads them, and returns nil when a required one is missing or malformed.
    /// - Returns: What `settings` returned.
    /// - Throws: `ConfigurationError` with the name of every setting that is missing or malformed.
    package func read<Value>(
        _ settings: (inout SettingsReader) -> Value?
    ) throws(ConfigurationError) -> Value {
        var reader = SettingsReader(self)
        guard let value = settings(&reader), reader.invalid.isEmpty else {
            throw ConfigurationError(invalidSettings: reader.invalid)
        }
        return value
    }
}

/// Prints no value, since several are secret.
extension ServiceConfiguration: CustomStringConvertible, CustomReflectable {
    package var description: String { "ServiceConfiguration(redacted)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
