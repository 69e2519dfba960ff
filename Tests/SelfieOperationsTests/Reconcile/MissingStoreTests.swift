import ConnectionTestSupport
import Foundation
import Logging
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("A store that is not there", .timeLimit(.minutes(2)))
struct MissingStoreTests {
    @Test(
        "A mistyped bucket, folder or store is reported and costs no row, however few there are",
        arguments: [
            (.disk, "OBJECTS_PATH", "There is no folder"),
            (.s3, "S3_BUCKET_NAME", "There is no bucket mistyped"),
            (.s3, "AWS_ENDPOINT_URL_S3", "status 404"),
        ] as [(TestStore, String, String)]
    )
    func reconcile(store: TestStore, key: String, reason: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mistyped-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            for _ in 0..<2 { #expect(try await service.upload(TestImage.jpeg, token: token).status == 200) }
            let values = [
                "OBJECTS_PATH": folder.path, "S3_BUCKET_NAME": "mistyped",
                // Answers 404 to whatever a store would be asked.
                "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:\(service.port)",
            ]
            var settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            settings[key] = values[key]
            let configuration = try ServiceConfiguration(from: ConfigurationSource(values: settings))
            for repairs in [false, true] {
                let error = await #expect(throws: (any Error).self) {
                    _ = try await Installation.reconcile(
                        ReconciliationOptions(repairs: repairs, minSeconds: 0, isForced: false),
                        configuration: configuration,
                        logger: service.log.logger(level: .info),
                        now: { Date(timeIntervalSinceNow: 2) }
                    )
                }
                #expect(error.map { "\($0)" }?.contains(reason) == true, "\(String(describing: error))")
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
            #expect(service.objects.keys().count == 2)
            #expect(!FileManager.default.fileExists(atPath: folder.path), "it only looked")
        }
    }

    @Test(
        "A command that can't run says why in sentences, and what to run next",
        arguments: ["S3: refused: status 403, Check your key.", "PostgreSQL cannot be reached"]
    )
    func outage(text: String) {
        struct Failure: Error, CustomStringConvertible { let description: String }
        let description = "\(InstallationError.outage(Failure(description: text)))"
        #expect(description.hasPrefix(text) && description.contains("selfie doctor"))
        #expect(!description.contains("..") && description.hasSuffix("."))
    }

    @Test("Copying from a missing folder is reported, and creates none")
    func copy() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mistyped-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestService.run(store: .s3) { service in
            var settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            settings["OBJECTS_PATH"] = folder.path
            let configuration = try ConfigurationSource(values: settings).read { $0.copying() }
            let error = await #expect(throws: (any Error).self) {
                _ = try await Installation.copy(
                    .s3,
                    configuration: configuration,
                    logger: service.log.logger(level: .info)
                )
            }
            #expect(error.map { "\($0)" }?.contains("There is no folder") == true, "\(String(describing: error))")
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }
}
