import AsyncHTTPClient
package import FoundationEssentials
package import Migrations
import Postgres
import S3
package import SelfieConfiguration
import Synchronization

/// Checks an installation from outside: what would stop the service from working, and what to do about it.
///
/// It changes nothing in the database. In the bucket or the folder it puts one object under a key that begins with
/// ``probePrefix``, and deletes it.
package struct Diagnosis: Sendable {
    /// The prefix of the keys of probe objects.
    package static let probePrefix = "selfie-doctor-"

    private let migrations: Result<[Migration], MigrationError>
    private let makesBucket: Bool
    private let now: @Sendable () -> Date
    /// How long it waits for answers.
    var limits = DiagnosisLimits()

    /// - Parameters:
    ///   - migrations: The migrations that the service needs, or why they can't be read.
    ///   - makesBucket: Whether a missing bucket is made, as the first upload would.
    ///   - now: The time.
    package init(
        migrations: Result<[Migration], MigrationError>,
        makesBucket: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.migrations = migrations
        self.makesBucket = makesBucket
        self.now = now
    }

    /// Checks everything, one thing after another.
    ///
    /// - Parameters:
    ///   - source: Environment and `.env` file, or why the file can't be read.
    ///   - onFinding: Called at the end of each check.
    /// - Returns: The number of checks by outcome.
    package func run(
        on source: Result<ConfigurationSource, any Error>,
        onFinding: @escaping @Sendable (Finding) -> Void
    ) async -> DiagnosisSummary {
        let counter = FindingCounter()
        let report = { @Sendable (finding: Finding) in
            counter.count(finding)
            onFinding(finding)
        }
        await check(source, report)
        return counter.summary
    }

    private func check(
        _ source: Result<ConfigurationSource, any Error>,
        _ report: @escaping @Sendable (Finding) -> Void
    ) async {
        let configuration = Findings(subject: .configuration, report: report)
        switch source {
        case .success(let source): await check(source, configuration, report)
        case .failure(ConfigurationFileError.developmentServerStopped):
            configuration.failed("bin/dev is not running here", "Start it, or set DATABASE_URL for another database.")
            configuration.skipped("everything else: nothing is known about the database and the photos' store")
        case .failure(let error):
            configuration.failed("it can't be read", "\(error)")
            configuration.skipped("everything else: nothing is known about the database and the photos' store")
        }
    }

    private func check(
        _ source: ConfigurationSource,
        _ configuration: Findings,
        _ report: @escaping @Sendable (Finding) -> Void
    ) async {
        Self.checkSettings(source, configuration)
        let secrets = Secrets(source: source)
        // Usable settings are checked, even if other keys are wrong.
        var settings = SettingsReader(source)
        let postgres = settings.postgres()
        let storage = settings.objectStorage()
        let maxUploadBytes = settings.maxUploadBytes()

        let database = Findings(subject: .database, report: report)
        if let postgres {
            await DatabaseDiagnosis(
                configuration: postgres,
                migrations: migrations,
                limits: limits,
                now: now,
                secrets: secrets,
                findings: database
            ).run()
        } else {
            database.skipped("everything, since DATABASE_URL is missing or malformed")
        }

        switch storage {
        case .disk(let path):
            await FolderDiagnosis(
                path: path,
                maxUploadBytes: maxUploadBytes,
                findings: Findings(subject: .folder, report: report)
            ).run()
        case .s3(let bucket):
            await check(bucket, secrets, Findings(subject: .bucket, report: report))
        case nil:
            let bucket = Findings(subject: .bucket, report: report)
            bucket.skipped("everything, since the settings of the store are missing or malformed")
        }
        await SpoolDiagnosis(
            maxUploadBytes: maxUploadBytes,
            findings: Findings(subject: .temporaryFolder, report: report)
        ).run()
    }

    private static func checkSettings(_ source: ConfigurationSource, _ findings: Findings) {
        do {
            let configuration = try ServiceConfiguration(from: source)
            findings.ok("all keys that are needed are there")
            findings.ok("\(configuration.trustedProxies)")
        } catch {
            for problem in error.problems {
                findings.failed(
                    "\(problem)",
                    "Set it in the environment or in the file .env; .env.example explains each key."
                )
            }
        }
        for warning in SettingsDiagnosis(source: source).warnings { findings.warning(warning.text, warning.advice) }
    }

    private func check(_ bucket: ServiceConfiguration.Bucket, _ secrets: Secrets, _ findings: Findings) async {
        // The body throws nothing, and a failed shutdown of the client is no finding.
        try? await S3Client.withHTTPClient { httpClient in
            await BucketDiagnosis(
                bucket: bucket,
                httpClient: httpClient,
                makesBucket: makesBucket,
                limits: limits,
                now: now,
                secrets: secrets,
                findings: findings
            ).run()
        }
    }
}

/// Counts findings that may come from any task.
private final class FindingCounter: Sendable {
    private let counts = Mutex(DiagnosisSummary())

    var summary: DiagnosisSummary { counts.withLock { $0 } }

    func count(_ finding: Finding) {
        counts.withLock { $0.count(finding) }
    }
}
