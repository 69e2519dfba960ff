import ConnectionTestSupport
import Foundation
import ImageFiles
import ObjectStore
import Postgres
import Renderer
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfiePhotos

@Suite("Small pictures", .timeLimit(.minutes(3)))
struct RenditionTests {
    /// A renderer that is a script: it notes that it was started, and then does something.
    private struct ScriptedRenderer {
        let program: String
        private let log: URL

        /// - Parameters:
        ///   - folder: Where it and its log are.
        ///   - steps: What it does; `render` for what the real one does.
        /// - Throws: An error of Foundation's.
        init(in folder: URL, _ steps: String) throws {
            let real = try #require(RenderProcess.programBesideThis)
            log = folder.appending(path: "log")
            program = folder.appending(path: "renderer").path
            let script = """
                #!/bin/sh
                echo started >> '\(log.path)'
                \(steps.replacing("render", with: "exec '\(real)' \"$@\""))
                """
            try Data(script.utf8).write(to: URL(filePath: program))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        }

        /// How often it was started.
        var startCount: Int {
            (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n").count ?? 0
        }
    }

    private static let settings = ["RENDITIONS_AT_ONCE": "2"]

    /// A service with a scripted renderer.
    private static func withRenderer(
        _ steps: String = "render",
        store: TestStore = .disk,
        settings: [String: String] = [:],
        _ body: @Sendable (TestService, ScriptedRenderer) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            let renderer = try ScriptedRenderer(in: folder, steps)
            let settings = Self.settings.merging(settings) { $1 }
            try await TestService.run(store: store, settings: settings) { service in
                service.renderer = RenderProcess(program: renderer.program)
                // Each test asks for what it wants.
                service.rendersInBackground = false
            } _: { service in
                try await body(service, renderer)
            }
        }
    }

    private static func state(_ service: TestService) async throws -> [String] {
        try await service.postgres.read(
            "SELECT concat_ws(' ', size, state, reason) AS text FROM renditions ORDER BY size"
        ).map { try $0.decode("text") }
    }

    private static func key(of photo: UploadedPhoto) -> String { "renditions/\(photo.randomID)/small" }

    private static func size(_ bytes: Data) async throws -> [Int?] {
        let size = try await ImageFile.read(length: bytes.count) { Array(bytes)[$0].map(\.self) }?.size
        return [size?.width, size?.height]
    }

    @Test("It is a JPEG with an entity tag of its own, from all stores", arguments: TestDelivery.allCases)
    func served(delivery: TestDelivery) async throws {
        try await Self.withRenderer(store: delivery.store, settings: delivery.settings) { service, renderer in
            let photo = try await service.uploadedPhoto()
            var answer = try await service.send("GET", photo.target + "&size=small")
            #expect(answer.status == delivery.status)
            #expect(answer.headers["cache-control"]?.hasPrefix("private, max-age=") == true)
            if delivery == .redirect {
                let url = try #require(answer.headers["location"])
                #expect(url.contains("/renditions/\(photo.randomID)/small?"))
                answer = try await service.send("GET", url)
            } else {
                let tag = try #require(answer.headers["etag"])
                #expect(tag != photo.tag)
                let again = try await service.send(
                    "GET",
                    photo.target + "&size=small",
                    headers: [("If-None-Match", tag)]
                )
                #expect(again.status == 304)
                let part = try await service.send(
                    "GET",
                    photo.target + "&size=small",
                    headers: [("Range", "bytes=0-1")]
                )
                #expect(part.status == 206 && Array(part.body) == [0xFF, 0xD8])
                let head = try await service.send("HEAD", photo.target + "&size=small")
                #expect(head.headers["content-length"] == "\(answer.body.count)")
            }
            #expect(answer.status == 200 && answer.headers["content-type"] == "image/jpeg")
            #expect(try await Self.size(answer.body) == [320, 320])
            #expect(answer.body.count < TestImage.jpeg.count)
            let stored = service.objects.bytes(key: Self.key(of: photo))
            #expect(answer.body == stored)
            #expect(renderer.startCount == 1)
            let original = try await service.send("GET", photo.target)
            #expect(original.status == delivery.status)
            if delivery != .redirect {
                #expect(original.body == TestImage.jpeg && original.headers["etag"] == photo.tag)
            }
        }
    }

    @Test("A photo that is not larger is its own small one, and no renderer is started")
    func smallEnough() async throws {
        try await Self.withRenderer { service, renderer in
            let photo = try await service.uploadedPhoto()
            let answer = try await service.send("GET", photo.target + "&size=medium")
            #expect(answer.body == TestImage.jpeg && answer.headers["etag"] == photo.tag)
            #expect(answer.headers["cache-control"] != "no-store")
            #expect(try await Self.state(service).isEmpty && renderer.startCount == 0)
            // Without a known size, the renderer tells.
            try await service.postgres.write("UPDATE photos SET width = NULL, height = NULL")
            for _ in 0..<2 {
                let answer = try await service.send("GET", photo.target + "&size=medium")
                #expect(answer.body == TestImage.jpeg)
            }
            #expect(try await Self.state(service) == ["medium original"] && renderer.startCount == 1)
        }
    }

    @Test("Another size, signature, or a deleted photo is refused as ever, and nothing is rendered")
    func refused() async throws {
        try await Self.withRenderer { service, renderer in
            let photo = try await service.uploadedPhoto()
            let other = try await service.send("GET", photo.target + "&size=large")
            #expect(other.status == 400 && other.text.contains("small"))
            #expect(try await service.send("GET", photo.target + "x&size=small").status == 403)
            #expect(try await service.delete(photo.randomID, token: photo.token).status == 200)
            #expect(try await service.send("GET", photo.target + "&size=small").status == 404)
            #expect(renderer.startCount == 0)
        }
    }

    @Test("Many who ask at once, at two processes, have it made once")
    func singleFlight() async throws {
        try await Self.withRenderer("sleep 0.5; render") { service, renderer in
            let photo = try await service.uploadedPhoto()
            try await TestService.run(
                databaseURL: service.databaseURL,
                settings: service.objects.settings.merging(Self.settings) { $1 }
            ) { other in
                other.renderer = RenderProcess(program: renderer.program)
            } _: { other in
                let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { tasks in
                    for index in 0..<20 {
                        tasks.addTask {
                            try await (index % 2 == 0 ? service : other).send("GET", photo.target + "&size=small")
                        }
                    }
                    return try await tasks.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(answers.map(\.body)).count == 1 && answers[0].headers["content-type"] == "image/jpeg")
                #expect(answers.allSatisfy { $0.status == 200 && $0.body.count < TestImage.jpeg.count })
                #expect(renderer.startCount == 1)
            }
        }
    }

    @Test("Who waits for five seconds gets the photo, which no cache keeps; the picture is there later")
    func slow() async throws {
        try await Self.withRenderer("sleep 6; render") { service, renderer in
            let photo = try await service.uploadedPhoto()
            let start = ContinuousClock.now
            let answer = try await service.send("GET", photo.target + "&size=small")
            #expect(ContinuousClock.now - start >= .seconds(5))
            #expect(answer.body == TestImage.jpeg && answer.headers["cache-control"] == "no-store")
            try await poll("it is made") { try await Self.state(service) == ["small ready"] }
            let later = try await service.send("GET", photo.target + "&size=small")
            #expect(later.body.count < TestImage.jpeg.count && later.headers["cache-control"] != "no-store")
            #expect(renderer.startCount == 1)
        }
    }

    @Test("What can't be made is not tried again; what was killed is, after a pause")
    func failures() async throws {
        try await Self.withRenderer("kill -SEGV $$") { service, renderer in
            let photo = try await service.uploadedPhoto()
            for _ in 0..<3 {
                let answer = try await service.send("GET", photo.target + "&size=small")
                #expect(answer.body == TestImage.jpeg && answer.headers["etag"] == photo.tag)
                #expect(answer.headers["cache-control"] != "no-store")
            }
            #expect(try await Self.state(service) == ["small failed crashed"] && renderer.startCount == 1)
            #expect(try await service.count("SELECT count(*) FROM renditions WHERE due_at IS NULL") == 1)
        }
        try await Self.withRenderer("kill -KILL $$") { service, renderer in
            let photo = try await service.uploadedPhoto()
            for count in 1...2 {
                for _ in 0..<2 {
                    let answer = try await service.send("GET", photo.target + "&size=small")
                    #expect(answer.body == TestImage.jpeg && answer.headers["cache-control"] == "no-store")
                }
                #expect(try await Self.state(service) == ["small failed killed"] && renderer.startCount == count)
                try await service.postgres.write("UPDATE renditions SET due_at = due_at - interval '65 s'")
            }
        }
    }

    @Test("A photo that takes too long is tried five times, since the machine may have been busy")
    func slowPhoto() async throws {
        try await TemporaryFolder.with { folder in
            let renderer = try ScriptedRenderer(in: folder, "exec sleep 600")
            try await TestService.run(settings: Self.settings) { service in
                var budget = RenderBudget()
                budget.time = .milliseconds(20)
                service.renderer = RenderProcess(program: renderer.program, budget: budget)
                service.rendersInBackground = false
            } _: { service in
                let photo = try await service.uploadedPhoto()
                for count in 1...5 {
                    #expect(try await service.send("GET", photo.target + "&size=small").body == TestImage.jpeg)
                    #expect(try await Self.state(service) == ["small failed time_exceeded"])
                    let isFinal = try await service.count("SELECT count(*) FROM renditions WHERE due_at IS NULL")
                    #expect(isFinal == (count < 5 ? 0 : 1))
                    try await service.postgres.write("UPDATE renditions SET due_at = due_at - interval '1 h'")
                }
                #expect(try await service.send("GET", photo.target + "&size=small").status == 200)
                #expect(renderer.startCount == 5)
            }
        }
    }

    @Test("Without a renderer, photos are served as usual, and the reason is noted")
    func missingProgram() async throws {
        try await TestService.run(settings: Self.settings) { service in
            service.renderer = RenderProcess(program: "/nonexistent/selfie-render")
        } _: { service in
            let photo = try await service.uploadedPhoto()
            for _ in 0..<2 {
                let answer = try await service.send("GET", photo.target + "&size=small")
                #expect(answer.body == TestImage.jpeg)
                // There may be a renderer soon.
                #expect(answer.headers["cache-control"] == "private, max-age=60")
            }
            #expect(try await service.count("SELECT count(*) FROM renditions WHERE due_at > now()") == 0)
            #expect(try await Self.state(service) == ["small failed program_missing"])
            #expect(service.log.text.contains("small pictures can't be made"))
        }
    }

    @Test("A photo whose renderer says that libvips is missing stops no other photo's")
    func subverted() async throws {
        // The check of the renderer asks for one pixel, and the first photo for more.
        let steps = "test $(wc -l < \"$(dirname \"$0\")/log\") -gt 1 || exit 20; render"
        try await Self.withRenderer(steps) { service, renderer in
            let photo = try await service.uploadedPhoto()
            let answer = try await service.send("GET", photo.target + "&size=small")
            #expect(answer.body == TestImage.jpeg && answer.headers["cache-control"] == "no-store")
            #expect(try await Self.state(service) == ["small failed library_missing"])
            #expect(try await service.count("SELECT count(*) FROM renditions WHERE due_at IS NOT NULL") == 1)
            let other = try await service.uploadedPhoto(email: "bob@example.com")
            let made = try await service.send("GET", other.target + "&size=small")
            #expect(made.status == 200 && made.body.count < TestImage.jpeg.count)
            #expect(renderer.startCount == 3)
        }
    }

    @Test("It goes with its photo", arguments: TestStore.allCases)
    func deleted(store: TestStore) async throws {
        try await Self.withRenderer(store: store, settings: ["PHOTO_DELIVERY": "proxy"]) { service, _ in
            let photo = try await service.uploadedPhoto()
            #expect(try await service.send("GET", photo.target + "&size=small").status == 200)
            #expect(service.objects.keys() == [photo.randomID, Self.key(of: photo)].sorted())
            #expect(try await service.delete(photo.randomID, token: photo.token).status == 200)
            try await poll("both are deleted") { service.objects.keys().isEmpty }
            #expect(try await Self.state(service).isEmpty)
        }
    }

    @Test("If its photo is deleted while it is made, its object goes again")
    func deletedMeanwhile() async throws {
        try await Self.withRenderer("sleep 1; render") { service, renderer in
            let photo = try await service.uploadedPhoto()
            async let answer = service.send("GET", photo.target + "&size=small")
            try await poll("it is being made") { renderer.startCount == 1 }
            #expect(try await service.delete(photo.randomID, token: photo.token).status == 200)
            #expect(try await answer.status == 404)
            #expect(service.objects.keys() == [Self.key(of: photo)])
            let settling = "SELECT count(*) FROM object_deletions WHERE due_at > now() AT TIME ZONE 'UTC'"
            #expect(try await service.count(PostgresQuery(stringLiteral: settling)) == 1)
            try await service.postgres.write("UPDATE object_deletions SET due_at = now() AT TIME ZONE 'UTC'")
            try await poll("it is deleted") { service.objects.keys().isEmpty }
        }
    }

    @Test("An object that is lost or cut is made again, and until then the photo is sent", arguments: [true, false])
    func lost(isCut: Bool) async throws {
        try await Self.withRenderer { service, renderer in
            let photo = try await service.uploadedPhoto()
            let first = try await service.send("GET", photo.target + "&size=small")
            if isCut {
                try await service.objects.write(first.body.dropLast(), key: Self.key(of: photo))
            } else {
                try await service.objects.remove(key: Self.key(of: photo))
            }
            let without = try await service.send("GET", photo.target + "&size=small")
            #expect(without.body == TestImage.jpeg && without.headers["cache-control"] == "no-store")
            // A copy of these bytes is not fresh when the small picture is there.
            #expect(without.headers["last-modified"] == nil && first.headers["last-modified"] == nil)
            let again = try await service.send("GET", photo.target + "&size=small")
            #expect(again.body == first.body && again.headers["etag"] == first.headers["etag"])
            #expect(renderer.startCount == 2)
        }
    }

    @Test("A claim of a process that was killed ends after a minute")
    func claims() async throws {
        try await Self.withRenderer { service, renderer in
            let photo = try await service.uploadedPhoto()
            let photos = PhotoStore(postgres: service.postgres)
            let claim = try #require(try await photos.claimRendition(of: photo.randomID, .small))
            #expect(try await photos.claimRendition(of: photo.randomID, .small) == nil)
            #expect(try await photos.isRenditionPending(of: photo.randomID, .small))
            try await service.postgres.write("UPDATE renditions SET due_at = due_at - interval '61 s'")
            #expect(try await !photos.isRenditionPending(of: photo.randomID, .small))
            let answer = try await service.send("GET", photo.target + "&size=small")
            #expect(answer.headers["content-type"] == "image/jpeg" && answer.body.count < TestImage.jpeg.count)
            #expect(renderer.startCount == 1)
            // Whoever had the claim comes too late.
            try await photos.fail(claim, reason: "crashed", isFinal: true)
            try await photos.finishWithOriginal(claim)
            try await photos.finish(claim, contentType: "image/png", byteCount: 1, digest: "x")
            try await photos.release(claim, reason: "interrupted")
            #expect(try await Self.state(service) == ["small ready"])
            #expect(try await service.count("SELECT count(*) FROM renditions WHERE content_type = 'image/jpeg'") == 1)
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 0)
        }
    }

    @Test("A claim that another has taken over changes nothing, and what is stored for a deleted photo is deleted")
    func lateClaims() async throws {
        try await Self.withRenderer { service, _ in
            let photo = try await service.uploadedPhoto()
            let photos = PhotoStore(postgres: service.postgres)
            let first = try #require(try await photos.claimRendition(of: photo.randomID, .small))
            try await service.postgres.write("UPDATE renditions SET due_at = due_at - interval '61 s'")
            let second = try #require(try await photos.claimRendition(of: photo.randomID, .small))
            try await photos.fail(first, reason: "crashed", isFinal: true)
            try await photos.finish(first, contentType: "image/png", byteCount: 1, digest: "x")
            #expect(try await Self.state(service) == ["small pending"])
            #expect(try await service.delete(photo.randomID, token: photo.token).status == 200)
            try await service.postgres.write("DELETE FROM object_deletions")
            try await photos.finish(second, contentType: "image/png", byteCount: 1, digest: "x")
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 1)
        }
    }

    @Test("Both sizes of a new photo are made when nobody waits")
    func background() async throws {
        try await TestService.run(settings: Self.settings) { service in
            let photo = try await service.uploadedPhoto()
            // The size is not known, so that the renderer says which are needed.
            try await poll("it is made") { try await Self.state(service) == ["small ready"] }
            let answer = try await service.send("GET", photo.target + "&size=small")
            #expect(answer.body == service.objects.bytes(key: Self.key(of: photo)))
        }
    }

    @Test("With RENDITIONS_AT_ONCE=0 there are none")
    func off() async throws {
        try await TestService.run { service in
            let photo = try await service.uploadedPhoto()
            let answer = try await service.send("GET", photo.target + "&size=small")
            #expect(answer.body == TestImage.jpeg && answer.headers["cache-control"] != "no-store")
            #expect(try await Self.state(service).isEmpty)
        }
    }
}
