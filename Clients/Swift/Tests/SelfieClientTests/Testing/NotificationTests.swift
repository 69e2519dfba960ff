import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("Devices and subscriptions in memory")
struct NotificationTests {
    @Test("A device belongs to the session that has registered it last, and ends with it")
    func devices() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        let (adaID, bobID) = (try #require(try ada.userID), try #require(try bob.userID))
        let token = Data([0xAB, 0x01])
        let device = try await ada.registerDevice(token: token, environment: .sandbox, badge: 2)
        #expect(device.id == "ab01" && device.platform == .apns && device.isCurrent)
        try await ada.registerDevice(fcmToken: "a:b/c")
        #expect(try await ada.devices().map(\.id) == ["ab01", "a:b/c"])
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        #expect(try await tablet.devices().map(\.isCurrent) == [false, false])
        try await bob.registerDevice(token: token)
        #expect(service.devices(of: adaID).map(\.id) == ["a:b/c"] && service.devices(of: bobID).map(\.id) == ["ab01"])
        try await ada.removeDevice("ab01")
        #expect(service.devices(of: bobID).count == 1)
        try await bob.removeDevice("ab01")
        try await bob.removeDevice("ab01")
        #expect(service.devices(of: bobID).isEmpty)
        try await ada.signOut()
        #expect(service.devices(of: adaID).isEmpty)
    }

    @Test("A user has 20 devices at most")
    func limit() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        for number in 0..<20 { try await ada.registerDevice(token: Data([UInt8(number)])) }
        try await ada.registerDevice(token: Data([0]))
        let error = await #expect(throws: SelfieError.self) { try await ada.registerDevice(token: Data([20])) }
        #expect(error?.refusal?.code == "too_many_devices")
        #expect(try await ada.devices().count == 20)
    }

    @Test("Subscriptions are as they were stored, each user's own")
    func subscriptions() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        let all = [
            Subscription(
                id: "a",
                collection: "houses",
                where: ["points": 1],
                on: [.created, .deleted],
                once: true,
                channel: .push(alert: "{address}", sound: "default", badge: true, collapse: "houses")
            ),
            Subscription(id: "b", collection: "photos", channel: .silentPush),
            Subscription(id: "c", collection: "inbox", on: [.updated], channel: .mail(alert: nil)),
        ]
        for subscription in all + [all[0]] { try await ada.save(subscription) }
        #expect(try await ada.subscriptions() == all)
        #expect(try await bob.subscriptions().isEmpty)
        try await bob.removeSubscription("a")
        try await ada.removeSubscription("b")
        try await ada.removeSubscription("b")
        #expect(try await ada.subscriptions() == [all[0], all[2]])
        func code(_ subscription: Subscription) async -> String? {
            await #expect(throws: SelfieError.self) { try await ada.save(subscription) }?.refusal?.code
        }
        #expect(await code(Subscription(id: "d", collection: "bugs", channel: .silentPush)) == "collection_not_found")
        let filtered = Subscription(id: "d", collection: "houses", where: ["photo": "x"], channel: .silentPush)
        #expect(await code(filtered) == "index_missing")
        #expect(await code(Subscription(id: "d", collection: "houses", on: [], channel: .silentPush)) == "on_blank")
    }

    @Test("A service without pushes and mails has none of their calls")
    func none() async throws {
        var settings = InMemoryService.Settings()
        (settings.sendsPushes, settings.sendsMail) = (false, false)
        let service = try TestSchema.service(settings: settings)
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        for call in [
            { try await ada.registerDevice(token: Data([1])) },
            { try await ada.save(Subscription(id: "a", collection: "photos", channel: .silentPush)) },
            { try await ada.requestCode(email: "ada@example.com", for: .signIn) },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: SelfieError.self) { try await call() }
            #expect(error?.refusal?.code == "endpoint_not_found")
        }
    }

    @Test("The record of a push is found, as long as the user may see it")
    func push() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        try await ada.records(House.self).create(House(address: "1"), id: "h")
        let values = ["collection": "houses", "id": "h", "type": "created", "subscription": "a"]
        let push = try #require(Push(userInfo: ["selfie": values]))
        #expect(try await ada.record(of: push, as: House.self)?.fields.address == "1")
        #expect(try await ada.record(of: push, as: Bug.self) == nil)
        try await ada.records(House.self).delete("h")
        #expect(try await ada.record(of: push, as: House.self) == nil)
    }
}
