import ClientTestSupport
import ConnectionTestSupport
import Foundation
import SelfieClient
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("The Swift client's photos")
struct PhotoTests {
    @Test("Uploads come from memory, a file or pieces, and tell how far they are", .timeLimit(.minutes(1)))
    func uploads() async throws {
        try await Self.run { _, _, ada, folder in
            let photo = TestImage.png(bytes: 300_000)
            let file = folder.appending(path: "me.png")
            try photo.write(to: file)
            let pieces = AsyncStream<Data> { continuation in
                for start in stride(from: 0, to: photo.count, by: 50_000) {
                    continuation.yield(photo[start..<min(start + 50_000, photo.count)])
                }
                continuation.finish()
            }
            let progress = Mutex<[UploadProgress]>([])
            let sources: [PhotoSource] = [.data(photo), .file(file), .pieces(of: pieces)]
            for (number, source) in sources.enumerated() {
                let made = try await ada.photos.upload(source, title: "\(number)", name: "me.png") { step in
                    progress.withLock { $0.append(step) }
                }
                #expect(made.byteCount == photo.count && made.contentType == "image/png" && made.name == "me.png")
                #expect(try await ada.photos.data(of: made.link) == photo)
            }
            let steps = progress.withLock { $0 }
            #expect(steps.filter { $0.fraction == 1 }.count >= 3)
            #expect(steps.allSatisfy { $0.totalBytes > photo.count && $0.sentBytes <= $0.totalBytes })
            await #expect(throws: SelfieError.self) {
                try await ada.photos.upload(.file(folder.appending(path: "none.png")), title: "none")
            }
            do {
                try await ada.photos.upload(.data(Data("text".utf8)), title: "text")
                Issue.record("It is no photo.")
            } catch SelfieError.notAPhoto(let refusal) {
                #expect(refusal.code == "photo_format_unknown")
            }
        }
    }

    @Test("A list that has not changed is not sent again; pages have an order", .timeLimit(.minutes(1)))
    func lists() async throws {
        try await Self.run { client, _, ada, _ in
            for title in ["0", "1", "2"] {
                try await ada.photos.upload(.data(TestImage.png(bytes: 200)), title: title)
            }
            let list = try await ada.photos.list()
            #expect(list.map(\.title) == ["0", "1", "2"])
            #expect(try await ada.photos.list() == list)
            #expect(client.log.text.contains("\"304\""))
            let first = try await ada.photos.page(.newestFirst, limit: 2)
            #expect(first.map(\.title) == ["2", "1"])
            #expect(try await ada.photos.page(.newestFirst, after: first.last?.id, limit: 2).map(\.title) == ["0"])
            try await ada.photos.delete(list[1].id)
            try await ada.photos.delete(list[1].id)
            #expect(try await ada.photos.list().map(\.title) == ["0", "2"])
        }
    }

    @Test(
        "A picture is loaded once for each size, also without a network, and is gone with its photo",
        .timeLimit(.minutes(1))
    )
    func cache() async throws {
        try await Self.run { _, relay, ada, folder in
            let photo = try await ada.photos.upload(.data(TestImage.jpeg), title: "Me")
            let original = try await ada.photos.data(of: photo.link)
            relay.turnOff()
            #expect(try await ada.photos.data(of: photo.link) == original)
            await #expect(throws: SelfieError.self) { try await ada.photos.data(of: photo.link, size: .small) }
            relay.turnOn()
            try await ada.photos.delete(photo.id)
            await #expect(throws: SelfieError.self) { try await ada.photos.data(of: photo.link) }
            #expect(try !AccountTests.files(in: folder).contains { $0.contains("pictures/") })
        }
    }

    @Test("URLs that have ended are renewed: a photo's, a record's and a profile's", .timeLimit(.minutes(1)))
    func renewal() async throws {
        try await TestClient.run { service, client in
            let selfie = client.selfie
            try await selfie.signUp(email: "ada@example.com", password: "secret 1", firstName: "Ada", lastName: "L")
            try await selfie.signIn(email: "ada@example.com", password: "secret 1")
            let photo = try await selfie.photos.upload(.data(TestImage.jpeg), title: "Me")
            let house = try await selfie.records(House.self).create(
                House(address: "Oak Road", photo: photo.id),
                id: "h1"
            )
            let profile = try await selfie.updateProfile(ProfileChange(picture: photo.id))
            let links = [photo.link, try #require(house.photo("photo")), try #require(profile.picture)]
            // All URLs end with the password.
            try await selfie.changePassword(from: "secret 1", to: "secret 2")
            for link in links {
                let status = try await service.send("GET", link.url().absoluteString).status
                #expect(status == 403)
                // Another client of hers has no picture yet.
                let other = try TestClient(service, folder: client.folder.appending(path: UUID().uuidString)).selfie
                try await other.signIn(email: "ada@example.com", password: "secret 2")
                #expect(try await other.photos.data(of: link) == TestImage.jpeg)
            }
            try await selfie.photos.delete(photo.id)
            for link in links {
                let other = try TestClient(service, folder: client.folder.appending(path: UUID().uuidString)).selfie
                try await other.signIn(email: "ada@example.com", password: "secret 2")
                await #expect(throws: SelfieError.self) { try await other.photos.data(of: link) }
            }
        }
    }

    @Test("An archive is whole or not there", .timeLimit(.minutes(1)))
    func export() async throws {
        try await Self.run { _, _, ada, folder in
            try await ada.photos.upload(.data(TestImage.jpeg), title: "Me")
            let file = folder.appending(path: "all.zip")
            await #expect(throws: SelfieError.self) { try await ada.photos.export(to: file, maxBytes: 100) }
            #expect(!FileManager.default.fileExists(atPath: file.path))
            try await ada.photos.export(to: file)
            #expect(try Data(contentsOf: file).starts(with: Data("PK".utf8)))
            #expect(!FileManager.default.fileExists(atPath: file.path + ".part"))
        }
    }

    private static func run(
        _ body: @Sendable (TestClient, ConnectionRelay, _ ada: Selfie, URL) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let relay = try await ConnectionRelay.start(target: service.port)
            try await TemporaryFolder.with { folder in
                let client = try TestClient(service, folder: folder, port: relay.port, as: ada)
                try await body(client, relay, client.selfie, folder)
            }
            try await relay.close()
        }
    }
}
