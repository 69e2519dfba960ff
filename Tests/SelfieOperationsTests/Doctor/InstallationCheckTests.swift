import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Renderer
import Synchronization
import Testing

@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("The checks of an installation", .timeLimit(.minutes(2)))
struct InstallationCheckTests {
    @Test("Stores and databases that do not answer are given up, each with its address")
    func silence() async throws {
        let (store, database) = (try SilentServer(), try SilentServer())
        let findings = try await Self.examine(
            answerLimit: .milliseconds(20),
            settings: [
                "DATABASE_URL": "postgresql://me:tell-nobody@127.0.0.1:\(database.port)/photos",
                "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "s3cr3t/X",
                "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:\(store.port)",
            ]
        )
        let failed = findings.filter { $0.grade == .failed && $0.subject != .configuration }
        #expect(failed.map(\.subject) == [.database, .bucket])
        #expect(failed.allSatisfy { $0.remedy?.contains("firewall in between") == true })
        #expect(failed.last?.text == "http://127.0.0.1:\(store.port)/photos can't be used: it does not answer in time")
        #expect(findings.filter { $0.grade == .skipped }.count == 2)
        #expect(!findings.contains { "\($0)".contains("tell-nobody") || "\($0)".contains("s3cr3t") })
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
        Findings(subject: .folder, secrets: Secrets(source: ConfigurationSource(values: [:]))) { findings.add($0) }
            .room(320 << 20 + missing, maxUploadBytes: 32 << 20)
        #expect(findings.all.map(\.grade) == [missing == 0 ? .ok : .warning])
    }

    @Test("A missing renderer is a warning that says what to do, unless no small pictures are wanted")
    func renderer() async {
        for (atOnce, grade) in [(1, Finding.Grade.warning), (0, .ok)] {
            let findings = Log()
            let renderer = RenderProcess(program: "/nonexistent/selfie-render")
            await Findings(subject: .renderer, secrets: Secrets(source: ConfigurationSource(values: [:]))) {
                findings.add($0)
            }.checkRenderer(renderer, atOnce: atOnce)
            #expect(findings.all.map(\.grade) == [grade])
            #expect(
                (findings.all.first?.remedy?.contains("Put selfie-render into the folder") == true) == (atOnce == 1)
            )
        }
    }

    private static func examine(
        answerLimit: Duration? = nil,
        settings: [String: String],
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> [Finding] {
        let findings = Log()
        var check = InstallationCheck(migrations: .success(try TestCluster.migrations()), now: now)
        if let answerLimit { check.answerLimit = answerLimit }
        await check.run(on: ConfigurationSource(values: settings)) { findings.add($0) }
        return findings.all
    }
}

private final class Log: Sendable {
    private let findings = Mutex<[Finding]>([])

    var all: [Finding] { findings.withLock { $0 } }

    func add(_ finding: Finding) { findings.withLock { $0.append(finding) } }
}
