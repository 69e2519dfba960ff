import Curl
package import FoundationEssentials
package import Migrations
import Postgres
import Renderer
import S3
package import SelfieConfiguration

/// Checks everything that an installation needs to work.
///
/// It changes nothing in the database. In the bucket or the folder it puts one object under a key that begins with
/// ``probePrefix``, and deletes it.
package struct InstallationCheck: Sendable {
    /// The prefix of the keys of probe objects.
    package static let probePrefix = "selfie-doctor-"

    private let migrations: Result<[Migration], MigrationError>
    private let makesBucket: Bool
    private let outbox: String?
    private let now: @Sendable () -> Date
    /// How long it waits for an answer of the database or the store.
    var answerLimit: Duration = .seconds(5)
    /// How connections to a mail server are made.
    var mailConnections = CurlConfiguration()
    /// How connections to webhooks are made.
    var webhookConnections = CurlConfiguration()
    var pushConnections = CurlConfiguration()
    /// Decodes photos.
    var renderer = RenderProcess.programBesideThis.map { RenderProcess(program: $0) }

    /// - Parameters:
    ///   - migrations: The migrations that the service needs, or why they can't be read.
    ///   - makesBucket: Whether a missing bucket is made, as the first upload would.
    ///   - outbox: The folder that gets all that would go out, in development; nil for none.
    ///   - now: The time.
    package init(
        migrations: Result<[Migration], MigrationError>,
        makesBucket: Bool = false,
        outbox: String? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.migrations = migrations
        self.makesBucket = makesBucket
        self.outbox = outbox
        self.now = now
    }

    /// Checks everything, one part after another.
    ///
    /// Settings that are usable are tried even if others are not.
    ///
    /// - Parameters:
    ///   - source: Environment and `.env` file.
    ///   - onFinding: Called at the end of each check, one call at a time.
    package func run(on source: ConfigurationSource, onFinding: @escaping @Sendable (Finding) -> Void) async {
        let secrets = Secrets(source: source)
        let findings = { @Sendable (subject: Finding.Subject) in
            Findings(subject: subject, secrets: secrets, report: onFinding)
        }
        SettingsCheck(source: source).run(findings(.configuration))

        var settings = SettingsReader(source)
        let databaseConfiguration = settings.postgres()
        if var postgres = databaseConfiguration {
            postgres.pool.maxConnections = 1
            postgres.connectTimeout = answerLimit
            // Longer than connecting takes, so that the reason for a failure is known.
            postgres.pool.leaseTimeout = answerLimit * 2
            let isUsable = await DatabaseCheck(
                configuration: postgres,
                migrations: migrations,
                statusLimit: answerLimit * 2,
                now: now,
                findings: findings(.database)
            ).run()
            if isUsable {
                await NotificationCheck(
                    configuration: postgres,
                    limit: answerLimit,
                    findings: findings(.notifications)
                ).run()
                await StandbyCheck(configuration: postgres, findings: findings(.standby)).run()
            }
        } else {
            findings(.database).skipped("everything, since DATABASE_URL is missing or malformed")
        }

        let maxUploadBytes = settings.maxUploadBytes()
        switch settings.objectStorage() {
        case .disk(let path):
            await FolderCheck(path: path, maxUploadBytes: maxUploadBytes, findings: findings(.folder)).run()
        case .s3(let bucket):
            await BucketCheck(
                bucket: bucket,
                plain: PlainRequest(curl: CurlClient(S3Client.connections()), limit: answerLimit, now: now),
                makesBucket: makesBucket,
                findings: findings(.bucket)
            ).run()
        case nil: findings(.bucket).skipped("everything, since the settings of the store are missing or malformed")
        }
        await findings(.temporaryFolder).checkTemporaryFolder(maxUploadBytes: maxUploadBytes)
        await findings(.renderer).checkRenderer(renderer, atOnce: settings.renditionsAtOnce())
        let mail = settings.mail(outbox: outbox)
        await MailCheck(
            settings: mail,
            isMalformed: mail == nil && source.value(of: "SMTP_URL") != nil,
            curl: CurlClient(mailConnections),
            limit: answerLimit,
            findings: findings(.mail)
        ).run()
        if var postgres = databaseConfiguration {
            postgres.connectTimeout = answerLimit
            postgres.pool.leaseTimeout = answerLimit * 2
            await DeliveryCheck(postgres: postgres, findings: findings(.deliveries)).run()
            if outbox != nil {
                findings(.webhooks).ok("all events go into the outbox")
            } else if let secret = settings.secretKeyBase() {
                await WebhookCheck(
                    postgres: postgres,
                    secret: secret,
                    networks: settings.webhookNetworks(),
                    connections: webhookConnections,
                    limit: answerLimit * 2,
                    findings: findings(.webhooks)
                ).run()
            }
            let push = settings.push()
            if outbox != nil {
                findings(.pushes).ok("all pushes go into the outbox")
            } else if let secret = settings.secretKeyBase() {
                await PushCheck(
                    postgres: postgres,
                    secret: secret,
                    settings: push,
                    connections: pushConnections,
                    findings: findings(.pushes)
                ).run()
            }
        }
    }
}
