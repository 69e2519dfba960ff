import ConnectionTestSupport
import Foundation
import Logging
import Postgres
import S3TestSupport
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieOperations
@testable import SelfiePhotos

@Suite("Stripping stored photos", .timeLimit(.minutes(3)))
struct StripTests {
    private static func strip(
        _ service: TestService,
        isDryRun: Bool = false,
        settings: [String: String] = [:]
    ) async throws -> [StripPhoto.Outcome: Int] {
        let settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            .merging(settings) { $1 }
        let result = try await Installation.strip(
            isDryRun: isDryRun,
            configuration: try ServiceConfiguration(from: ConfigurationSource(values: settings)),
            logger: TestLog().logger(level: .info)
        )
        if let failure = result.failure { throw failure }
        return StripPhoto.Outcome.allCases.reduce(into: [:]) { counts, outcome in
            if result.report[outcome] > 0 { counts[outcome] = result.report[outcome] }
        }
    }

    private static func objectKey(of randomID: String, _ service: TestService) async throws -> String {
        let rows = try await service.postgres.read(
            "SELECT coalesce(object_key, random_id)::text AS key FROM photos WHERE random_id = \(randomID)"
        )
        return try #require(rows.first).decode("key")
    }

    private static func get(_ service: TestService, _ target: String, tag: String = "") async throws -> HTTPAnswer {
        let headers = tag.isEmpty ? [] : [("If-None-Match", tag)]
        return try await service.send("GET", target, headers: headers)
    }

    /// A service whose photos keep their metadata.
    private static func withService(
        _ store: TestStore = .disk,
        settings: [String: String] = [:],
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        let settings = settings.merging(["PHOTO_METADATA": "keep", "PHOTO_DELIVERY": "proxy"]) { $1 }
        try await TestService.run(store: store, settings: settings, body)
    }

    @Test(
        "A photo gets a new object and a new entity tag, and the old object stays for a while",
        arguments: TestStore.allCases
    )
    func stripped(store: TestStore) async throws {
        try await Self.withService(store) { service in
            let photo = try await service.addPhoto(PlantedImage.jpeg)
            let before = try await Self.get(service, photo.target)
            let isWhole = before.body == PlantedImage.jpeg
            #expect(isWhole)
            let list = try await service.list(token: photo.token)

            #expect(try await Self.strip(service, isDryRun: true) == [.stripped: 1])
            #expect(try await Self.objectKey(of: photo.randomID, service) == photo.randomID)
            #expect(service.objects.keys() == [photo.randomID])

            #expect(try await Self.strip(service) == [.stripped: 1])
            let key = try await Self.objectKey(of: photo.randomID, service)
            #expect(service.objects.keys() == [key, photo.randomID].sorted() && key != photo.randomID)
            let after = try await Self.get(service, photo.target, tag: before.headers["etag"] ?? "")
            #expect(after.status == 200 && after.headers["etag"] == "\"\(key)\"")
            let isStored = after.body == service.objects.bytes(key: key)
            #expect(isStored)
            #expect(after.body.firstRange(of: Data(PlantedImage.marker.utf8)) == nil)
            #expect(after.body.count < PlantedImage.jpeg.count && after.body.count > 1_000)
            let listed = try await service.list(token: photo.token)
            #expect(listed.headers["etag"] != list.headers["etag"])
            let row = try #require(listed.jsonArray?.first)
            #expect(row["byte_count"] as? Int == after.body.count && row["content_type"] as? String == "image/jpeg")
            #expect(row["random_id"] as? String == photo.randomID && row["width"] as? Int == 480)
            let bytes = try await service.count("SELECT byte_count AS count FROM photo_libraries")
            #expect(bytes == after.body.count)
            // A redirect may lead to it for two hours.
            let waiting: PostgresQuery = """
                SELECT count(*) FROM object_deletions WHERE due_at > now() AT TIME ZONE 'UTC' + interval '2 hours'
                """
            #expect(try await service.count(waiting) == 1)
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 1)

            #expect(try await Self.strip(service) == [:])
            #expect(try await Self.objectKey(of: photo.randomID, service) == key)
        }
    }

    @Test("The old object goes when it is due, and both go with the photo", arguments: TestStore.allCases)
    func deletions(store: TestStore) async throws {
        try await Self.withService(store) { service in
            let first = try await service.addPhoto(PlantedImage.jpeg)
            let second = try await service.addPhoto(PlantedImage.jpeg, name: "grace")
            #expect(try await Self.strip(service) == [.stripped: 2])
            let key = try await Self.objectKey(of: second.randomID, service)
            #expect(service.objects.keys().count == 4)
            #expect(try await service.delete(first.randomID, token: first.token).status == 200)
            try await poll("both objects are deleted") {
                service.objects.keys() == [key, second.randomID].sorted()
            }
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 1)
            try await service.postgres.write("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            try await poll("the old object is deleted") { service.objects.keys() == [key] }
            #expect(try await Self.get(service, second.target).status == 200)
        }
    }

    @Test("An account takes the old and the new objects of its photos along")
    func account() async throws {
        try await Self.withService { service in
            let token = try await service.makeToken()
            for isListed in [true, false] {
                let answer = try await service.upload(PlantedImage.jpeg, token: token)
                #expect(answer.status == 200)
                if isListed { continue }
                let id = try #require(answer.json["random_id"] as? String)
                try await service.postgres.write("UPDATE photos SET state = 'unlisted' WHERE random_id = \(id)")
            }
            #expect(try await Self.strip(service) == [.stripped: 2])
            #expect(service.objects.keys().count == 4)
            let password = try TestService.encrypt("my password")
            let answer = try await service.sendForm(
                "DELETE",
                "/api/account",
                authorization: "Token token=\(token)",
                [("password", password)]
            )
            #expect(answer.status == 200, "\(answer.text)")
            try await poll("all objects are deleted") { service.objects.keys().isEmpty }
        }
    }

    @Test("Clean photos stay as they are, and files that are no photos are told")
    func others() async throws {
        try await Self.withService { service in
            let clean = try await service.addPhoto(TestImage.jpeg)
            let text = try await service.addPhoto(Data("no photo".utf8), name: "grace")
            let lost = try await service.addPhoto(PlantedImage.jpeg, name: "joan")
            try await service.objects.remove(key: lost.randomID)
            let outcomes: [StripPhoto.Outcome: Int] = [.clean: 1, .noImage: 1, .missing: 1]
            #expect(try await Self.strip(service, isDryRun: true) == outcomes)
            #expect(try await Self.strip(service) == outcomes)
            #expect(service.objects.keys() == [clean.randomID, text.randomID].sorted())
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 0)
            #expect(try await Self.strip(service) == [.noImage: 1, .missing: 1])
        }
    }

    @Test("New uploads are stripped already, unless PHOTO_METADATA is keep")
    func uploads() async throws {
        try await TestService.run { service in
            let answer = try await service.upload(PlantedImage.jpeg, token: service.makeToken())
            #expect(answer.status == 200)
            #expect(try await Self.strip(service) == [:])
        }
    }

    @Test("Runs at once, with deletions in between, leave one object a photo", arguments: TestStore.allCases)
    func parallel(store: TestStore) async throws {
        try await Self.withService(store) { service in
            let token = try await service.addSession(name: "ada")
            var ids: [String] = []
            for _ in 0..<12 {
                ids.append(
                    try #require(try await service.upload(PlantedImage.jpeg, token: token).json["random_id"] as? String)
                )
            }
            let deleted = ids.suffix(4)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<3 { tasks.addTask { _ = try await Self.strip(service) } }
                for id in deleted {
                    tasks.addTask {
                        let answer = try await service.delete(id, token: token)
                        #expect(answer.status == 200)
                    }
                }
                try await tasks.waitForAll()
            }
            #expect(try await service.count("SELECT count(*) FROM photos WHERE NOT is_stripped") == 0)
            try await service.postgres.write("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            var keys: [String] = []
            for id in ids.dropLast(4) { keys.append(try await Self.objectKey(of: id, service)) }
            try await poll("each photo has one object") { service.objects.keys() == keys.sorted() }
            for photo in try #require(try await service.list(token: token).jsonArray) {
                let url = try #require(photo["image_url"] as? String)
                let answer = try await Self.get(service, String(url.dropFirst(service.origin.count)))
                #expect(answer.status == 200 && answer.body.count == photo["byte_count"] as? Int)
            }
        }
    }

    @Test("A new object that is late, or whose photo is gone, is deleted again")
    func late() async throws {
        try await Self.withService { service in
            let photo = try await service.addPhoto(PlantedImage.jpeg)
            let photos = PhotoStore(postgres: service.postgres)
            let facts = PhotoFacts(contentType: "image/jpeg", byteCount: 1, size: nil)
            func replace(_ old: String, _ key: String) async throws -> Bool {
                try await photos.replaceObject(of: photo.randomID, old, by: key, versionID: nil, facts: facts)
            }
            // Not announced, or claimed by a sweeper.
            #expect(try await !replace(photo.randomID, "never"))
            try await photos.announceReplacement("claimed")
            try await service.postgres.write("UPDATE object_deletions SET attempts = 1")
            #expect(try await !replace(photo.randomID, "claimed"))
            // Another process was faster.
            try await photos.announceReplacement("second")
            #expect(try await !replace("other", "second"))
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 2)
            #expect(try await Self.objectKey(of: photo.randomID, service) == photo.randomID)
            try await photos.withdrawReplacement("third", versionID: "v")
            let row = try #require(
                try await service.postgres.read(
                    """
                    SELECT object_version, due_at > now() AT TIME ZONE 'UTC' + interval '10 s' AS is_later
                    FROM object_deletions WHERE random_id = 'third'
                    """
                ).first
            )
            #expect(try row.decode("object_version") == "v")
            #expect(try row.decode("is_later") == true)
            #expect(try await replace(photo.randomID, "second"))
            #expect(try await service.count("SELECT count(*) FROM object_deletions WHERE random_id = 'second'") == 0)
        }
    }

    @Test("Reconciling finds nothing, and a copy has the new objects", arguments: TestStore.allCases)
    func otherCommands(store: TestStore) async throws {
        try await Self.withService(store) { service in
            let photo = try await service.addPhoto(PlantedImage.jpeg)
            #expect(try await Self.strip(service) == [.stripped: 1])
            let key = try await Self.objectKey(of: photo.randomID, service)
            let settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            let result = try await Installation.reconcile(
                ReconciliationOptions(repairs: true, minSeconds: 0, isForced: true),
                configuration: try ServiceConfiguration(from: ConfigurationSource(values: settings)),
                logger: TestLog().logger(level: .info)
            )
            #expect(result.failure == nil && result.report.isClean)
            for kind in ReconciliationReport.Kind.allCases { #expect(result.report[kind].found == 0) }
            try await ServedSelfie.withObjects(store == .disk ? .s3 : .disk) { other in
                let settings = service.objects.settings.merging(other.settings) { $1 }
                    .merging(["DATABASE_URL": service.databaseURL]) { $1 }
                let result = try await Installation.copy(
                    store == .disk ? .s3 : .disk,
                    configuration: try ConfigurationSource(values: settings).read { $0.copying() },
                    logger: TestLog().logger(level: .info)
                )
                #expect(result.failure == nil && result.report[.copied] == 1)
                #expect(other.keys() == [key])
            }
            // Without its object, the photo is lost.
            try await service.objects.remove(key: key)
            let repaired = try await Installation.reconcile(
                ReconciliationOptions(repairs: true, minSeconds: 0, isForced: true),
                configuration: try ServiceConfiguration(from: ConfigurationSource(values: settings)),
                logger: TestLog().logger(level: .info)
            )
            #expect(repaired.report[.photoWithoutObject].repaired == 1)
            #expect(try await service.count("SELECT count(*) FROM photos") == 0)
        }
    }
}
