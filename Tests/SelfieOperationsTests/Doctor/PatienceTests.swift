import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Synchronization
import Testing

@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("What an examination finds besides refusals", .timeLimit(.minutes(2)))
struct PatienceTests {
    /// Of the two limits only one can be over.
    @Test(
        "Stores and databases that say nothing are given up, each with its address",
        arguments: [(Duration.milliseconds(20), Duration.seconds(3_600)), (.seconds(3_600), .milliseconds(20))]
    )
    func silence(connect: Duration, lease: Duration) async throws {
        let (store, database) = (try SilentServer(), try SilentServer())
        var limits = DiagnosisLimits()
        limits.databaseConnect = connect
        limits.databaseLease = lease
        limits.plainRequest = .milliseconds(20)
        let findings = try await Self.examine(
            limits: limits,
            settings: [
                "DATABASE_URL": "postgresql://me:tell-nobody@127.0.0.1:\(database.port)/photos",
                "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "s3cr3t/X",
                "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:\(store.port)",
            ]
        )
        let failed = findings.filter { $0.grade == .failed && $0.subject != .configuration }.map(\.text)
        #expect(failed.count == 2)
        #expect(failed.first == "127.0.0.1:\(database.port) does not answer")
        #expect(failed.last?.hasSuffix("127.0.0.1:\(store.port) does not answer in time") == true)
        #expect(findings.filter { $0.grade == .skipped }.count == 2)
        #expect(!findings.contains { "\($0)".contains("tell-nobody") || "\($0)".contains("s3cr3t") })
    }

    @Test("The limits leave half a minute for everything that can be silent")
    func limits() {
        let limits = DiagnosisLimits()
        #expect(limits.databaseConnect == .seconds(4))
        #expect(limits.databaseLease == .seconds(6))
        #expect(limits.migrationStatus == .seconds(8))
        #expect(limits.plainRequest == .seconds(5))
    }

    @Test("A database's clock that is far from ours is warned about, and fails beyond a quarter of an hour")
    func databaseClock() async throws {
        try await TestCluster.withDatabase { url in
            for (offset, grade, text) in [
                (0.0, Finding.Grade.ok, "its clock and ours agree"),
                (-120.0, .warning, "its clock is 2 minutes ahead of ours"),
                (3_700.0, .failed, "its clock is 61 minutes behind ours"),
            ] {
                let findings = try await Self.examine(settings: ["DATABASE_URL": url]) { Date() + offset }
                let clock = try #require(findings.first { $0.text.hasPrefix("its clock") })
                #expect(clock.grade == grade && clock.text.hasPrefix(text), "\(clock)")
                #expect(findings.contains { $0.text.hasPrefix("migrated, with ") && $0.grade == .ok })
            }
        }
    }

    @Test("Room for ten of the largest photos is enough, a byte less is not", arguments: [0, -1])
    func room(missing: Int) {
        let findings = Log()
        Findings(subject: .folder) { findings.add($0) }.room(320 << 20 + missing, maxUploadBytes: 32 << 20)
        #expect(findings.all.map(\.grade) == [missing == 0 ? .ok : .warning])
    }

    private static func examine(
        limits: DiagnosisLimits = DiagnosisLimits(),
        settings: [String: String],
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> [Finding] {
        let findings = Log()
        var diagnosis = Diagnosis(migrations: .success(try TestCluster.migrations()), now: now)
        diagnosis.limits = limits
        _ = await diagnosis.run(on: .success(ConfigurationSource(values: settings))) { findings.add($0) }
        return findings.all
    }
}

private final class Log: Sendable {
    private let findings = Mutex<[Finding]>([])

    var all: [Finding] { findings.withLock { $0 } }

    func add(_ finding: Finding) { findings.withLock { $0.append(finding) } }
}
