import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("The outbox and the service in memory")
struct OutboxDeliveryTests {
    private static func isWaiting(_ item: OutboxItem, for error: SelfieError) -> Bool {
        item.state == .waiting(lastError: error)
    }

    @Test("What was added without a network arrives when there is one, in order and with its photos")
    func offline() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        service.isOffline = true
        let photo = try await selfie.outbox.upload(.data(TestPhoto.png), title: "x", isListed: false)
        try await selfie.outbox.create(House(address: "1"), id: "h", photos: ["photo": photo])
        try await selfie.outbox.create(House(address: "2"), id: "i")
        try await selfie.outbox.delete("i", of: House.self)
        try await poll { await selfie.outbox.items.contains { Self.isWaiting($0, for: .offline) } }
        #expect(await selfie.outbox.items.count == 4)
        #expect(await selfie.outbox.items[1].fields(as: House.self)?.address == "1")
        let results = await selfie.outbox.results
        service.isOffline = false
        await selfie.outbox.hurry()
        try await selfie.outbox.waitUntilSent()
        let houses = try await selfie.records(House.self).all().collect()
        #expect(houses.map(\.id) == ["h"] && houses[0].version == 1)
        let link = try #require(houses[0].photo("photo"))
        #expect(service.bytes(of: link.id) == TestPhoto.png)
        var result = results.makeAsyncIterator()
        let first = try #require(await result.next())
        #expect(first.id == photo && first.photo?.id == link.id)
        #expect(try await selfie.photos.list().isEmpty)
    }

    @Test("Lost answers double and lose nothing")
    func lostAnswers() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        let bobID = try #require(try bob.userID)
        let record = try await selfie.records(House.self).create(House(address: "0"), id: "changed")
        try await selfie.records(House.self).create(House(address: "0"), id: "deleted")
        for path in ["upload_photo", "records", "records", "records", "members"] { service.loseNextAnswer(to: path) }
        try await selfie.outbox.upload(.data(TestPhoto.png), title: "x")
        try await selfie.outbox.create(House(address: "1"), id: "created")
        try await selfie.outbox.save(House(address: "2"), id: record.id, version: record.version)
        try await selfie.outbox.delete("deleted", of: House.self)
        try await selfie.outbox.create(Letter(text: "Hi"), id: "l", inbox: bobID)
        try await poll {
            await selfie.outbox.hurry()
            return await selfie.outbox.items.isEmpty
        }
        #expect(service.receivedCalls.filter { $0.status == nil }.count == 5)
        #expect(try await selfie.photos.list().count == 1)
        let houses = try await selfie.records(House.self).all().collect()
        #expect(houses.map(\.fields.address) == ["2", "1"] && houses.map(\.version) == [2, 1])
        #expect(try await bob.records(Letter.self).all().collect().map(\.id) == ["l"])
    }

    @Test("A refused item waits for the app, and holds up no other")
    func refused() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        try await selfie.records(House.self).create(House(address: "0"), id: "h")
        let wrong = try await selfie.outbox.save(House(address: "1"), id: "h", version: 7)
        let noPhoto = try await selfie.outbox.upload(.data(Data("text".utf8)), title: "x")
        try await selfie.outbox.save(House(address: "2"), id: "i")
        let taken = try await selfie.outbox.create(House(address: "3"), id: "h")
        try await selfie.outbox.waitUntilSent()
        let items = await selfie.outbox.items
        #expect(items.map(\.id) == [wrong, noPhoto, taken])
        #expect(items.last?.state == items.first?.state)
        try await selfie.outbox.drop(taken)
        guard case .refused(.versionDiffers) = items[0].state, case .refused(.notAPhoto) = items[1].state
        else {
            Issue.record("They are \(items.map(\.state)).")
            return
        }
        try await selfie.records(House.self).delete("h")
        try await selfie.outbox.drop(noPhoto)
        try await selfie.outbox.drop(wrong)
        #expect(await selfie.outbox.items.isEmpty)
        #expect(try await selfie.records(House.self).all().collect().map(\.id) == ["i"])
    }

    @Test("A busy service is asked again")
    func busy() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        service.refuseNext(with: 503, code: "service_unavailable", retryAfter: 30, to: "records")
        service.refuseNext(with: 503, code: "service_unavailable", to: "upload_photo")
        try await selfie.outbox.save(House(address: "1"), id: "h")
        try await poll {
            await selfie.outbox.items.first.map {
                Self.isWaiting($0, for: .unavailable(retryAfter: .seconds(30)))
            } ?? false
        }
        try await selfie.outbox.upload(.data(TestPhoto.png), title: "x")
        try await poll {
            await selfie.outbox.hurry()
            return await selfie.outbox.items.isEmpty
        }
        #expect(try await selfie.photos.list().count == 1)
    }

    @Test("What waits survives the end of the app, and is sent once")
    func restart() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let store = MemoryTokenStore()
            weak var ended: Outbox?
            do {
                let first = service.makeClient(folder: folder, tokenStore: store)
                try await first.signUp(email: "a@x.example", password: "secret", firstName: "A", lastName: "B")
                try await first.signIn(email: "a@x.example", password: "secret")
                service.isOffline = true
                try await first.outbox.upload(.data(TestPhoto.png), title: "x")
                try await first.outbox.create(House(address: "1"), id: "h")
                ended = first.outbox
            }
            try await poll { ended == nil }
            service.isOffline = false
            let second = service.makeClient(folder: folder, tokenStore: store)
            #expect(await second.outbox.items.count == 2)
            try await second.outbox.waitUntilSent()
            #expect(try await second.records(House.self).record("h").version == 1)
            #expect(try await second.photos.list().map(\.title) == ["x"])
        }
    }

    @Test("Items of a user wait while somebody else is signed in, and never become that one's")
    func otherUser() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        _ = try await service.makeClient(signedInAs: "bob@example.com")
        service.isOffline = true
        try await selfie.outbox.upload(.data(TestPhoto.jpeg("ada")), title: "ada")
        try await selfie.outbox.save(House(address: "ada"), id: "ada")
        try await selfie.signOut()
        service.isOffline = false
        try await selfie.signIn(email: "bob@example.com", password: "password")
        #expect(await selfie.outbox.items.isEmpty)
        try await selfie.outbox.save(House(address: "bob"), id: "bob")
        try await selfie.outbox.waitUntilSent()
        #expect(try await selfie.records(House.self).all().collect().map(\.id) == ["bob"])
        #expect(try await selfie.photos.list().isEmpty)
        try await selfie.signIn(email: "ada@example.com", password: "password")
        try await selfie.outbox.waitUntilSent()
        try await poll { try await selfie.records(House.self).all().collect().map(\.id) == ["ada"] }
        try await poll { try await selfie.photos.list().map(\.title) == ["ada"] }
    }

    @Test("When the session ends, items wait for the next one")
    func sessionEnd() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let userID = try #require(try selfie.userID)
        service.endSessions(of: userID)
        try await selfie.outbox.save(House(address: "1"), id: "h")
        try await poll { try selfie.userID == nil }
        await #expect(throws: SelfieError.notSignedIn) {
            try await selfie.outbox.save(House(address: "2"), id: "i")
        }
        try await selfie.signIn(email: "ada@example.com", password: "password")
        try await selfie.outbox.waitUntilSent()
        #expect(try await selfie.records(House.self).all().collect().map(\.id) == ["h"])
    }

    @Test("Everything arrives once over a network that loses half of all answers")
    func badNetwork() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        for number in 0..<10 {
            service.loseNextAnswer(to: number < 5 ? "upload_photo" : "records/houses/\(number)")
            try await selfie.outbox.upload(.data(TestPhoto.jpeg("\(number)")), title: "\(number)")
            try await selfie.outbox.create(House(address: "\(number)"), id: "\(number)")
        }
        try await poll {
            await selfie.outbox.hurry()
            return await selfie.outbox.items.isEmpty
        }
        #expect(try await selfie.photos.list().map(\.title) == (0..<10).map(String.init))
        #expect(try await selfie.records(House.self).all().collect().map(\.version) == Array(repeating: 1, count: 10))
        #expect(service.receivedCalls.filter { $0.status == nil }.count == 10)
    }

    @Test("A record may refer to an upload that has arrived already", .timeLimit(.minutes(1)))
    func finishedUpload() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            var photo = UUID()
            do {
                let selfie = try await service.makeClient(signedInAs: "ada@example.com", folder: folder)
                photo = try await selfie.outbox.upload(.data(TestPhoto.png), title: "x", isListed: false)
                try await selfie.outbox.waitUntilSent()
                try await selfie.outbox.save(House(address: "1"), id: "h", photos: ["photo": photo])
                try await selfie.outbox.waitUntilSent()
                #expect(try await selfie.records(House.self).record("h").photo("photo") != nil)
                await #expect(throws: SelfieError.dependencyDropped) {
                    try await selfie.outbox.save(House(address: "2"), id: "i", photos: ["photo": UUID()])
                }
                try await selfie.signOut()
            }
            // Also after the app's end.
            let selfie = try await service.makeClient(signedInAs: "ada@example.com", folder: folder)
            // The former client lets the folder go a moment later.
            try await poll {
                (try? await selfie.outbox.save(House(address: "3"), id: "j", photos: ["photo": photo])) != nil
            }
            try await selfie.outbox.waitUntilSent()
            #expect(try await selfie.records(House.self).record("j").fields.address == "3")
            #expect(await selfie.outbox.items.isEmpty)
        }
    }

    @Test("A record that is changed several times without a network keeps what others have changed in it")
    func offlineChanges() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        var record = try await selfie.records(House.self).create(House(address: "1", points: 1), id: "h")
        service.isOffline = true
        record.fields.address = "2"
        try await selfie.outbox.update(record)
        record.fields.address = "3"
        try await selfie.outbox.update(record)
        record.fields.address = "4"
        let refused = try await selfie.outbox.update(record, ifUnchanged: true)
        #expect(
            await selfie.outbox.items.map(\.content)
                == ["2", "3", "4"].map { .update(collection: "houses", id: "h", changes: ["address": .string($0)]) }
        )
        service.isOffline = false
        try await tablet.records(House.self).modify("h") { $0.points = 9 }
        await selfie.outbox.hurry()
        try await selfie.outbox.waitUntilSent()
        #expect(try await tablet.records(House.self).record("h").fields == House(address: "3", points: 9))
        #expect(await selfie.outbox.items.map(\.id) == [refused])
    }

    @Test("A change without a version is not made again when its answer was lost", arguments: ["save", "update"])
    func lostAnswerOfChange(kind: String) async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        var record = try await selfie.records(House.self).create(House(address: "1"), id: "h")
        record.fields.address = "2"
        service.loseNextAnswer(to: "records")
        if kind == "save" {
            try await selfie.outbox.save(record.fields, id: "h")
        } else {
            try await selfie.outbox.update(record)
        }
        try await poll {
            await selfie.outbox.hurry()
            return await selfie.outbox.items.isEmpty
        }
        #expect(try await selfie.records(House.self).record("h").version == 2)
    }

    @Test("It says why it has no items, and nobody waits for it in vain")
    func status() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let store = MemoryTokenStore()
            let first = service.makeClient(folder: folder, tokenStore: store)
            #expect(await first.outbox.status == .notSignedIn)
            await #expect(throws: SelfieError.notSignedIn) { try await first.outbox.waitUntilSent() }
            try await first.signUp(email: "a@x.example", password: "secret", firstName: "A", lastName: "B")
            try await first.signIn(email: "a@x.example", password: "secret")
            #expect(await first.outbox.status == .open)
            service.isOffline = true
            try await first.outbox.create(House(address: "1"), id: "h")
            let second = service.makeClient(folder: folder, tokenStore: store)
            guard case .unavailable(.storage) = await second.outbox.status else {
                Issue.record("It is \(await second.outbox.status).")
                return
            }
            #expect(await second.outbox.items.isEmpty)
            await #expect(throws: SelfieError.self) { try await second.outbox.waitUntilSent() }
            let waiting = Task { try await first.outbox.waitUntilSent() }
            // It should wait already, but the test holds if it does not.
            try await Task.sleep(for: .milliseconds(50))
            try await first.signOut()
            await #expect(throws: SelfieError.notSignedIn) { try await waiting.value }
        }
    }

    @Test("A change that is taken back is taken back", arguments: ["kept", "read again", "sent before", "removed"])
    func takenBack(kind: String) async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let houses = selfie.records(House.self)
        let read = try await houses.create(House(address: "1"), id: "h")
        service.isOffline = kind != "sent before"
        var changed = read
        changed.fields.address = "2"
        changed.fields.points = kind == "removed" ? 5 : nil
        try await selfie.outbox.update(changed)
        if kind == "sent before" { try await selfie.outbox.waitUntilSent() }
        // Either the same variable, or a copy that a replica gives as long as nothing has arrived.
        if kind != "kept" { changed = read }
        (changed.fields.address, changed.fields.points) = ("1", nil)
        try await selfie.outbox.update(changed)
        service.isOffline = false
        await selfie.outbox.hurry()
        try await selfie.outbox.waitUntilSent()
        #expect(try await houses.record("h").fields == House(address: "1"))
    }

    @Test("A change leaves what a waiting one of another type has written")
    func otherType() async throws {
        struct Address: RecordFields {
            static let collection = "houses"
            var address: String
        }
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        try await selfie.records(House.self).create(House(address: "1"), id: "h")
        var address = try await selfie.records(Address.self).record("h")
        service.isOffline = true
        try await selfie.outbox.save(House(address: "2", points: 7), id: "h")
        address.fields.address = "3"
        try await selfie.outbox.update(address)
        service.isOffline = false
        await selfie.outbox.hurry()
        try await selfie.outbox.waitUntilSent()
        #expect(try await selfie.records(House.self).record("h").fields == House(address: "3", points: 7))
    }

    @Test("A record says why it waits when its photo was refused")
    func refusedPhoto() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let photo = try await selfie.outbox.upload(.data(Data("text".utf8)), title: "x")
        let house = try await selfie.outbox.create(House(address: "1"), photos: ["photo": photo])
        try await selfie.outbox.waitUntilSent()
        let items = await selfie.outbox.items
        #expect(items.map(\.id) == [photo, house])
        guard case .refused(.notAPhoto) = items[0].state, case .waiting(.notAPhoto?) = items[1].state else {
            Issue.record("They are \(items.map(\.state)).")
            return
        }
        try await selfie.outbox.drop(photo)
        #expect(await selfie.outbox.items.map(\.state) == [.refused(.dependencyDropped)])
    }

    @Test("A record counts as created after a lost answer, also if somebody has changed it since")
    func changedSince() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        service.loseNextAnswer(to: "records")
        try await selfie.outbox.create(House(address: "1"), id: "h")
        try await poll { try await tablet.records(House.self).find("h") != nil }
        try await tablet.records(House.self).modify("h") { $0.points = 9 }
        try await poll {
            await selfie.outbox.hurry()
            return await selfie.outbox.items.isEmpty
        }
        #expect(try await tablet.records(House.self).record("h").fields == House(address: "1", points: 9))
        // Without a lost answer, it is another record.
        try await selfie.outbox.create(House(address: "2"), id: "h")
        try await selfie.outbox.waitUntilSent()
        guard case .refused(.versionDiffers)? = await selfie.outbox.items.first?.state else {
            Issue.record("It is \(await selfie.outbox.items.map(\.state)).")
            return
        }
    }

    @Test("An id that would lead elsewhere is refused before anything is sent or kept", arguments: ["", ".", ".."])
    func invalidID(id: String) async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let houses = selfie.records(House.self)
        let count = service.receivedCalls.count
        func expectRefusal(_ call: () async throws -> Void) async {
            let error = await #expect(throws: SelfieError.self) { try await call() }
            #expect(error?.refusal?.code == "record_id_invalid")
        }
        await expectRefusal { _ = try await houses.record(id) }
        await expectRefusal { try await houses.create(House(address: "1"), id: id) }
        await expectRefusal { try await houses.save(House(address: "1"), id: id) }
        await expectRefusal { try await houses.delete(id) }
        await expectRefusal { try await selfie.outbox.create(House(address: "1"), id: id) }
        await expectRefusal { try await selfie.outbox.save(House(address: "1"), id: id) }
        await expectRefusal { try await selfie.outbox.delete(id, of: House.self) }
        #expect(service.receivedCalls.count == count)
        #expect(await selfie.outbox.items.isEmpty)
    }
}
