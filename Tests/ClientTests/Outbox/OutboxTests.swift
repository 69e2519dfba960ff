import ClientTestSupport
import Foundation
import SelfieClient
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The Swift client's outbox")
struct OutboxTests {
    @Test("A message with a picture that waits, too", .timeLimit(.minutes(1)))
    func pictures() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await TemporaryFolder.with { folder in
                let selfie = try TestClient(service, folder: folder, as: ada).selfie
                let upload = try await selfie.outbox.upload(.data(TestImage.jpeg), title: "Front", isListed: false)
                try await selfie.outbox.save(House(address: "Oak Road"), id: "h1", photos: ["photo": upload])
                try await selfie.outbox.waitUntilSent()
                #expect(await selfie.outbox.items.isEmpty)
                let house = try await selfie.records(House.self).record("h1")
                let photo = try #require(house.photo("photo"))
                #expect(try await selfie.photos.data(of: photo) == TestImage.jpeg)
            }
        }
    }
}
