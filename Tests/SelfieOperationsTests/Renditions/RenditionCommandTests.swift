import ConnectionTestSupport
import Foundation
import Logging
import Postgres
import ProcessTestSupport
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieOperations
@testable import SelfiePhotos

@Suite("Small pictures, and commands over all photos", .timeLimit(.minutes(3)))
struct RenditionCommandTests {
    /// A service with one photo, whose small picture was made.
    private static func withPicture(
        store: TestStore = .disk,
        settings: [String: String] = [:],
        _ body: @Sendable (TestService, _ token: String, _ randomID: String, _ target: String) async throws -> Void
    ) async throws {
        let settings = ["RENDITIONS_AT_ONCE": "1", "PHOTO_DELIVERY": "proxy"].merging(settings) { $1 }
        try await TestService.run(store: store, settings: settings) { service in
            let token = try await service.makeToken()
            let answer = try await service.upload(PlantedImage.jpeg, token: token)
            let randomID = try #require(answer.json["random_id"] as? String)
            let url = try #require(answer.json["image_url"] as? String)
            let target = String(url.dropFirst(service.origin.count)) + "&size=small"
            try await poll("it is made") {
                try await service.count("SELECT count(*) FROM renditions WHERE state = 'ready'") == 1
            }
            try await body(service, token, randomID, target)
        }
    }

    @Test(
        "Reconciling leaves them alone, has lost ones made again, and deletes those of no photo",
        arguments: TestStore.allCases
    )
    func reconcile(store: TestStore) async throws {
        try await Self.withPicture(store: store) { service, _, randomID, target in
            let key = "renditions/\(randomID)/small"
            #expect(service.objects.keys() == [randomID, key].sorted())
            #expect(try await ReconcileTests.reconcile(service, repairs: true).findings == [])
            let photos = PhotoStore(postgres: service.postgres)
            #expect(try await !photos.removeLost(key: key), "the photo is not lost")

            let first = try await service.send("GET", target)
            try await service.objects.remove(key: key)
            #expect(
                try await ReconcileTests.reconcile(service, repairs: false).findings == [
                    "renditionWithoutObject \(randomID) false"
                ]
            )
            let report = try await ReconcileTests.reconcile(service, repairs: true)
            #expect(report.findings == ["renditionWithoutObject \(randomID) true"] && report.report.isClean)
            let again = try await service.send("GET", target)
            #expect(again.body == first.body && service.objects.keys() == [randomID, key].sorted())

            // What a failed attempt may have stored belongs to its row, and what has no row to nobody.
            try await service.postgres.write("UPDATE renditions SET state = 'failed'")
            #expect(try await ReconcileTests.reconcile(service, repairs: true).findings == [])
            try await service.objects.remove(key: key)
            #expect(try await ReconcileTests.reconcile(service, repairs: true).findings == [])
            try await service.objects.write(TestImage.jpeg, key: key)
            try await service.postgres.write("DELETE FROM renditions")
            try await service.postgres.write("DELETE FROM object_deletions")
            #expect(
                try await ReconcileTests.reconcile(service, repairs: true, isForced: true).findings
                    == ["objectWithoutPhoto \(key) true"]
            )
            #expect(service.objects.keys() == [randomID])
        }
    }

    @Test(
        "A copy has them, too; one that is lost or cut is made again later",
        arguments: TestStore.allCases,
        ["whole", "lost", "cut"]
    )
    func copy(store: TestStore, state: String) async throws {
        try await Self.withPicture(store: store) { service, token, randomID, target in
            let key = "renditions/\(randomID)/small"
            let picture = try #require(service.objects.bytes(key: key))
            if state == "lost" { try await service.objects.remove(key: key) }
            if state == "cut" { try await service.objects.write(picture.dropLast(), key: key) }
            try await ServedSelfie.withObjects(store == .disk ? .s3 : .disk) { other in
                let settings = service.objects.settings.merging(other.settings) { $1 }
                    .merging(["DATABASE_URL": service.databaseURL]) { $1 }
                let configuration = try ConfigurationSource(values: settings).read { $0.copying() }
                let direction: CopyDirection = store == .disk ? .s3 : .disk
                let result = try await Installation.copy(
                    direction,
                    configuration: configuration,
                    logger: TestLog().logger(level: .info)
                )
                #expect(result.failure == nil && result.report.isComplete)
                guard state == "whole" else {
                    #expect(result.report[.copied] == 1 && result.report[.forgotten] == 1)
                    #expect(other.keys() == [randomID])
                    let again = try await service.send("GET", target)
                    #expect(again.body == picture)
                    return
                }
                #expect(result.report[.copied] == 2)
                #expect(other.keys() == [randomID, key].sorted())
                let isSame = other.bytes(key: key) == service.objects.bytes(key: key)
                #expect(isSame)
            }
        }
    }

    @Test("They stay when the photo is stripped, and go with the account")
    func stripAndLeave() async throws {
        try await Self.withPicture(settings: ["PHOTO_METADATA": "keep"]) { service, token, randomID, target in
            let before = try await service.send("GET", target)
            let original = target.replacing("&size=small", with: "")
            #expect(try await service.send("HEAD", original).headers["last-modified"] != nil)
            let settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            let result = try await Installation.strip(
                isDryRun: false,
                configuration: try ServiceConfiguration(from: ConfigurationSource(values: settings)),
                logger: TestLog().logger(level: .info)
            )
            #expect(result.report[.stripped] == 1)
            // Otherwise a client could join the bytes of two files by their date.
            #expect(try await service.send("HEAD", original).headers["last-modified"] == nil)
            let after = try await service.send("GET", target)
            #expect(after.body == before.body && service.objects.keys().count == 3)
            let answer = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: "Token token=\(token)",
                [("password", try TestService.encrypt("my password"))]
            )
            #expect(answer.status == 200, "\(answer.text)")
            try await poll("all objects are deleted") { service.objects.keys().isEmpty }
        }
    }

    @Test("A person can see why one can't be made")
    func show() async throws {
        try await Self.withPicture { service, _, randomID, _ in
            try await service.postgres.write("UPDATE renditions SET state = 'failed', reason = 'memory_exceeded'")
            let environment = ["DATABASE_URL": service.databaseURL]
            let text = try await SelfieProcess.run(["photos", "show", randomID], environment: environment)
            #expect(text.status == 0)
            #expect(text.output.contains(/small +failed +\d+ +memory_exceeded +1/), "\(text.output)")
            #expect(text.output.contains("480 × 480") && text.output.contains("removed"))
            let json = try await SelfieProcess.run(["photos", "show", randomID, "--json"], environment: environment)
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            let pictures = try #require(object?["renditions"] as? [[String: Any]])
            #expect(pictures.count == 1 && pictures[0]["reason"] as? String == "memory_exceeded")
            let unknown = try await SelfieProcess.run(["photos", "show", "nobody"], environment: environment)
            #expect(unknown.status != 0 && unknown.errors.contains("There is no photo with this random_id."))
        }
    }
}
