import ClientTestSupport
import ConnectionTestSupport
import Foundation
import Postgres
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

    @Test("Items wait for their own user while another one is signed in", .timeLimit(.minutes(1)))
    func users() async throws {
        try await TestService.runWithSchema { service in
            let relay = try await ConnectionRelay.start(target: service.port)
            try await TemporaryFolder.with { folder in
                let selfie = try TestClient(service, folder: folder, port: relay.port).selfie
                for name in ["ada", "bob"] {
                    try await selfie.signUp(
                        email: "\(name)@example.com",
                        password: "secret 1",
                        firstName: name,
                        lastName: "L"
                    )
                }
                try await selfie.signIn(email: "ada@example.com", password: "secret 1")
                relay.turnOff()
                try await selfie.outbox.upload(.data(TestImage.jpeg), title: "hers")
                try await selfie.outbox.save(House(address: "hers"), id: "h1")
                // The service hears nothing of it.
                try await selfie.signOut()
                #expect(await selfie.outbox.items.isEmpty)
                await #expect(throws: SelfieError.notSignedIn) {
                    try await selfie.outbox.upload(.data(TestImage.jpeg), title: "nobody's")
                }
                relay.turnOn()
                try await selfie.signIn(email: "bob@example.com", password: "secret 1")
                #expect(await selfie.outbox.items.isEmpty)
                try await selfie.outbox.upload(.data(TestImage.jpeg), title: "his")
                try await selfie.outbox.waitUntilSent()
                #expect(try await selfie.photos.list().map(\.title) == ["his"])
                #expect(try await service.count("SELECT count(*) FROM photos") == 1)
                try await selfie.signOut()
                try await selfie.signIn(email: "ada@example.com", password: "secret 1")
                try await selfie.outbox.waitUntilSent()
                #expect(try await selfie.photos.list().map(\.title) == ["hers"])
                #expect(try await selfie.records(House.self).record("h1").fields.address == "hers")
            }
            try await relay.close()
        }
    }
}
