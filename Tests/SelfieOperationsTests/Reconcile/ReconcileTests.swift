import ConnectionTestSupport
import Foundation
import Logging
import NIOHTTP1
import Postgres
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import S3
@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("Rows and objects that do not match", .timeLimit(.minutes(3)))
struct ReconcileTests {
    typealias Kind = ReconciliationReport.Kind

    /// Compares what a service has, while it runs.
    static func reconcile(
        _ service: TestService,
        repairs: Bool,
        minSeconds: Int = 0,
        isForced: Bool = false,
        includesVersions: Bool = false,
        // Files are dated in fractions of a second, and objects may be dated by another clock.
        secondsLater: TimeInterval = 2,
        settings changes: [String: String] = [:]
    ) async throws -> (report: ReconciliationReport, findings: [String]) {
        let settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            .merging(changes) { $1 }
        let findings = Findings()
        let result = try await Installation.reconcile(
            ReconciliationOptions(
                repairs: repairs,
                minSeconds: minSeconds,
                isForced: isForced,
                includesVersions: includesVersions
            ),
            configuration: try ServiceConfiguration(from: ConfigurationSource(values: settings)),
            logger: service.log.logger(level: .info),
            now: { Date(timeIntervalSinceNow: secondsLater) },
            onFinding: { findings.add("\($0.kind) \($0.key) \($0.isRepaired)") }
        )
        if let failure = result.failure { throw failure }
        return (result.report, findings.all.sorted())
    }

    @Test("Where all match nothing is found, and nothing is changed", arguments: TestStore.allCases)
    func clean(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let empty = try await Self.reconcile(service, repairs: true).report
            if store == .s3 {
                try await poll("the missing bucket is logged") {
                    service.log.text.contains("there is no bucket yet; the first upload creates it")
                }
                #expect(!service.log.text.contains("the store does not answer as it should"))
            }
            #expect(empty.isClean && empty.photoCount == 0 && empty.objectCount == 0)
            let token = try await service.makeToken()
            let ids = try await Self.upload(3, to: service, token: token)
            let (report, findings) = try await Self.reconcile(service, repairs: true)
            #expect(report.isClean && report.photoCount == 3 && report.objectCount == 3)
            #expect(findings.isEmpty)
            #expect(service.objects.keys() == ids.sorted())
        }
    }

    @Test(
        "An object put there by hand and a row whose object was removed by hand are found, then repaired",
        arguments: TestStore.allCases
    )
    func byHand(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            let ids = try await Self.upload(4, to: service, token: token)
            let keys = ["by hand ü.jpg", "\(ids[0])2", String(ids[1].dropLast())]
            try await service.objects.write(keys, TestImage.jpeg)
            try await service.objects.remove(key: ids[2])

            let expected = keys.map { "objectWithoutPhoto \($0)" } + ["photoWithoutObject \(ids[2])"]
            let dry = try await Self.reconcile(service, repairs: false)
            #expect(dry.findings == expected.map { "\($0) false" }.sorted())
            #expect(!dry.report.isClean)
            #expect(dry.report[.objectWithoutPhoto].found == 3 && dry.report[.photoWithoutObject].found == 1)
            #expect(service.objects.keys().count == 6, "a dry run deletes nothing")
            #expect(try await service.count("SELECT count(*) FROM photos") == 4)

            let wet = try await Self.reconcile(service, repairs: true)
            #expect(wet.findings == expected.map { "\($0) true" }.sorted())
            #expect(wet.report.isClean)
            #expect(service.objects.keys() == [ids[0], ids[1], ids[3]].sorted())
            let list = try #require(try await service.list(token: token).jsonArray)
            #expect(list.compactMap { $0["random_id"] as? String } == [ids[0], ids[1], ids[3]])
            #expect(try await Self.reconcile(service, repairs: false).findings.isEmpty)
        }
    }

    @Test("Differences younger than the option are ignored", arguments: TestStore.allCases)
    func young(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            let ids = try await Self.upload(2, to: service, token: token)
            try await service.objects.write(TestImage.jpeg, key: "orphan")
            try await service.objects.remove(key: ids[0])
            #expect(try await Self.reconcile(service, repairs: true, minSeconds: 60).findings.isEmpty)
            #expect(service.objects.keys() == [ids[1], "orphan"].sorted())
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
        }
    }

    @Test("Uploads in progress, and objects that are due for deletion, are ignored", arguments: TestStore.allCases)
    func underWay(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            let ids = try await Self.upload(3, to: service, token: token)
            // The one is stored and not ready yet, of the other there is not even a row that says so.
            try await service.postgres.write("UPDATE photos SET state = 'pending' WHERE random_id = \(ids[0])")
            try await service.postgres.write(
                """
                WITH removed AS (DELETE FROM photos WHERE random_id = \(ids[1]) RETURNING random_id)
                INSERT INTO object_deletions (random_id, due_at)
                SELECT random_id, now() AT TIME ZONE 'UTC' + interval '1 hour' FROM removed
                """
            )
            #expect(try await Self.reconcile(service, repairs: true).findings.isEmpty)
            #expect(service.objects.keys() == ids.sorted())
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
        }
    }

    @Test("Parallel uploads and deletions are neither reported nor disturbed", arguments: TestStore.allCases)
    func meanwhile(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for round in 0..<8 {
                            let ids = try await Self.upload(2, to: service, token: token)
                            if round % 2 == 0 { _ = try await service.delete(ids[0], token: token) }
                        }
                    }
                }
                for _ in 0..<6 {
                    let (report, findings) = try await Self.reconcile(service, repairs: true)
                    #expect(report.isClean)
                    #expect(findings.isEmpty)
                }
                try await group.waitForAll()
            }
            try await poll("the deletions are done") {
                try await service.count("SELECT count(*) FROM object_deletions") == 0
            }
            let rows = try await service.postgres.read("SELECT random_id FROM photos WHERE state = 'ready'")
            #expect(rows.count == 36)
            #expect(try rows.map { try $0.decode("random_id", as: String.self) }.sorted() == service.objects.keys())
        }
    }

    @Test("An object of another length is reported, and not changed", arguments: TestStore.allCases)
    func otherLength(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            let ids = try await Self.upload(2, to: service, token: token)
            let half = TestImage.jpeg.prefix(20)
            try await service.objects.write(half, key: ids[1])
            let (report, findings) = try await Self.reconcile(service, repairs: true)
            #expect(findings == ["otherLength \(ids[1]) false"])
            #expect(!report.isClean)
            #expect(service.objects.bytes(key: ids[1]) == half)
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
        }
    }

    @Test("Where most does not match nothing is repaired, unless it is forced", arguments: TestStore.allCases)
    func suspicious(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            let ids = try await Self.upload(2, to: service, token: token)
            try await service.objects.write((0..<10).map { "orphan-\($0)" }, TestImage.jpeg)
            let few = try await Self.reconcile(service, repairs: true).report
            #expect(few.isClean && few[.objectWithoutPhoto].repaired == 10, "so few may be all that there is")
            try await service.objects.write((0..<11).map { "orphan-\($0)" }, TestImage.jpeg)
            await #expect(throws: ReconciliationError.self) {
                _ = try await Self.reconcile(service, repairs: true)
            }
            #expect(service.objects.keys().count == 13)
            #expect(try await Self.reconcile(service, repairs: false).findings.count == 11)
            #expect(try await Self.reconcile(service, repairs: true, isForced: true).report.isClean)
            #expect(service.objects.keys() == ids.sorted())
        }
    }

    @Test("Another installation's bucket costs no row")
    func otherBucket() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let ids = try await Self.upload(22, to: service, token: token)
            for id in ids[..<11] { try await service.objects.remove(key: id) }
            #expect(try await Self.reconcile(service, repairs: false).report[.photoWithoutObject].found == 11)
            try await service.objects.remove(key: ids[11])
            await #expect(throws: ReconciliationError.self) {
                _ = try await Self.reconcile(service, repairs: true)
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 22)
            // Half of them is not most of them.
            try await service.objects.write(TestImage.jpeg, key: ids[11])
            #expect(try await Self.reconcile(service, repairs: true).report[.photoWithoutObject].repaired == 11)
            #expect(try await service.count("SELECT count(*) FROM photos") == 11)
        }
    }

    @Test("More than fits a page is compared page by page")
    func pages() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            _ = try await Self.upload(1, to: service, token: token)
            try await service.postgres.write(
                """
                INSERT INTO photos (user_id, name, title, random_id, state, created_at)
                SELECT user_id, 'n', 't', 'lost-' || n, 'ready', created_at
                FROM photos, generate_series(1, 1050) AS n
                """
            )
            try await service.objects.write((0..<1_020).map { "orphan-\($0)" }, Data("x".utf8))
            let report = try await Self.reconcile(service, repairs: true, isForced: true).report
            #expect(report[.objectWithoutPhoto].repaired == 1_020 && report[.photoWithoutObject].repaired == 1_050)
            #expect(report.isClean)
            #expect(service.objects.keys().count == 1)
            #expect(try await service.count("SELECT count(*) FROM photos") == 1)
        }
    }

    /// Uploads photos, and returns their ids.
    @discardableResult
    static func upload(_ count: Int, to service: TestService, token: String) async throws -> [String] {
        var ids: [String] = []
        for _ in 0..<count {
            let answer = try await service.upload(TestImage.jpeg, token: token)
            ids.append(try #require(answer.json["random_id"] as? String, "\(answer.text)"))
        }
        return ids
    }
}

/// The findings of a comparison, in their order.
private final class Findings: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
