import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("A replica and the service in memory")
struct ReplicaTests {
    private func clients() async throws -> (service: InMemoryService, ada: Selfie, bob: Selfie, bobID: String) {
        let service = try TestSchema.service()
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        return (service, try await service.makeClient(signedInAs: "ada@example.com"), bob, try #require(try bob.userID))
    }

    /// The next result that fits.
    private func next<Fields: RecordFields>(
        _ results: inout LiveResults<Fields>.Iterator,
        where fits: ([Record<Fields>]) -> Bool
    ) async throws -> [Record<Fields>] {
        while let records = await results.next() {
            if fits(records) { return records }
        }
        throw PollTimeout()
    }

    @Test("It has what was there, and hears of what other devices do", .timeLimit(.minutes(1)))
    func follow() async throws {
        let (service, ada, _, _) = try await clients()
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        for number in 0..<3 {
            try await tablet.records(House.self).create(House(address: "\(number)", points: number), id: "\(number)")
        }
        let replica = try await ada.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        #expect(await replica.records(House.self).map(\.id) == ["0", "1", "2"])
        var results = replica.results(House.self, where: [.range("points", from: 1)], order: .descending("points"))
            .makeAsyncIterator()
        #expect(try await next(&results) { _ in true }.map(\.id) == ["2", "1"])
        try await tablet.records(House.self).modify("0") { $0.points = 9 }
        #expect(try await next(&results) { $0.count == 3 }.map(\.id) == ["0", "2", "1"])
        try await tablet.records(House.self).delete("2")
        #expect(try await next(&results) { $0.count == 2 }.map(\.id) == ["0", "1"])
        #expect(await replica.record("0", House.self)?.version == 2)
        await replica.close()
        #expect(await results.next() == nil)
    }

    @Test("Changes tell what came, changed and went", .timeLimit(.minutes(1)))
    func changes() async throws {
        let (service, ada, _, _) = try await clients()
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        try await tablet.records(House.self).create(House(address: "1"), id: "h")
        let replica = try await ada.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        var changes = replica.changes(House.self).makeAsyncIterator()
        #expect(await changes.next()?.inserted.map(\.id) == ["h"])
        try await tablet.records(House.self).save(House(address: "2"), id: "h")
        #expect(await changes.next()?.updated.map(\.fields.address) == ["2"])
        try await tablet.records(House.self).delete("h")
        #expect(await changes.next()?.removed == ["h"])
        await replica.close()
    }

    @Test("It reads without a network, goes on when there is one, and survives the app", .timeLimit(.minutes(1)))
    func offline() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let tablet = try await service.makeClient(signedInAs: "ada@example.com")
            try await tablet.records(House.self).create(House(address: "1"), id: "1")
            let store = MemoryTokenStore()
            do {
                let first = try await service.makeClient(signedInAs: "ada@example.com", folder: folder) {
                    $0.tokenStore = store
                }
                let replica = try await first.replica(of: [House.self])
                try await replica.waitUntilCurrent()
                await replica.close()
            }
            service.isOffline = true
            let second = service.makeClient(folder: folder, tokenStore: store)
            let replica = try await second.replica(of: [House.self])
            #expect(await replica.records(House.self).map(\.id) == ["1"])
            try await poll { await replica.status == .waiting(.offline) }
            service.isOffline = false
            try await tablet.records(House.self).create(House(address: "2"), id: "2")
            try await poll { await replica.records(House.self).map(\.id) == ["1", "2"] }
            #expect(await replica.status == .current)
            await replica.close()
        }
    }

    @Test("When its cursor ends, it is loaded again, and forgets what has gone meanwhile", .timeLimit(.minutes(1)))
    func reload() async throws {
        let (service, ada, _, _) = try await clients()
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        for id in ["a", "b"] { try await tablet.records(House.self).create(House(address: id), id: id) }
        let replica = try await ada.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        var changes = replica.changes(House.self).makeAsyncIterator()
        _ = await changes.next()
        service.isOffline = true
        try await poll { [.waiting(.interrupted), .waiting(.offline)].contains(await replica.status) }
        service.endCursors()
        service.isOffline = false
        // Its next page is asked for without a cursor, so it hears of no deletion.
        try await tablet.records(House.self).delete("a")
        try await tablet.records(House.self).create(House(address: "c"), id: "c")
        var (inserted, removed): (Set<String>, Set<String>) = ([], [])
        while inserted.isEmpty || removed.isEmpty, let change = await changes.next() {
            inserted.formUnion(change.inserted.map(\.id))
            removed.formUnion(change.removed)
        }
        #expect(inserted == ["c"] && removed == ["a"])
        #expect(await replica.records(House.self).map(\.id) == ["b", "c"])
        #expect(service.receivedCalls.contains { $0.path == "/api/changes" && $0.status == 410 })
        await replica.close()
    }

    @Test("Many pages are loaded, each record once", .timeLimit(.minutes(1)))
    func pages() async throws {
        let (_, ada, _, _) = try await clients()
        for page in 0..<6 {
            try await ada.records(House.self).create(contentsOf: (0..<100).map { House(address: "\(page * 100 + $0)") })
        }
        let replica = try await ada.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        let addresses = await replica.records(House.self).map(\.fields.address)
        #expect(addresses.count == 600 && Set(addresses) == Set((0..<600).map(String.init)))
        await replica.close()
    }

    @Test("It has only what its user may read, and loses that with the right", .timeLimit(.minutes(1)))
    func rights() async throws {
        let (_, ada, bob, bobID) = try await clients()
        let replica = try await bob.replica(of: [ChatThread.self, Letter.self])
        try await replica.waitUntilCurrent()
        let threads = ada.records(ChatThread.self)
        try await threads.create(ChatThread(name: "secret"), id: "secret")
        try await threads.create(ChatThread(name: "shared"), id: "shared", readers: [bobID])
        let letters: Records<Letter> = ada.inbox(of: bobID)
        try await letters.create(Letter(text: "Hi"), id: "l")
        try await poll { await replica.record("l", Letter.self) != nil }
        #expect(await replica.records(ChatThread.self).map(\.id) == ["shared"])
        try await threads.save(ChatThread(name: "mine"), id: "shared", readers: [])
        try await letters.delete("l")
        try await poll { await replica.records(Letter.self).isEmpty }
        #expect(await replica.records(ChatThread.self).isEmpty)
        await replica.close()
    }

    @Test("Of a blocked member's changes it hears nothing but the end of a right", .timeLimit(.minutes(1)))
    func blocked() async throws {
        let (_, ada, bob, bobID) = try await clients()
        let adaID = try #require(try ada.userID)
        let threads = ada.records(ChatThread.self)
        for id in ["quiet", "deleted"] { try await threads.create(ChatThread(name: "1"), id: id, readers: [bobID]) }
        let replica = try await bob.replica(of: [ChatThread.self])
        try await replica.waitUntilCurrent()
        try await bob.block(adaID)
        try await threads.save(ChatThread(name: "2"), id: "quiet")
        try await threads.delete("deleted")
        try await poll { await replica.record("deleted", ChatThread.self) == nil }
        #expect(await replica.record("quiet", ChatThread.self)?.fields.name == "1")
        #expect(try await bob.records(ChatThread.self).record("quiet").fields.name == "2")
        await replica.close()
    }

    @Test("A role that is lost takes its records along, and gives them back", .timeLimit(.minutes(1)))
    func roles() async throws {
        let (service, ada, bob, bobID) = try await clients()
        let adaID = try #require(try ada.userID)
        for id in [adaID, bobID] { service.add(id, toRole: "team") }
        try await ada.records(Bug.self).create(Bug(title: "Crash"), id: "b")
        try await bob.records(House.self).create(House(address: "1"), id: "h")
        let replica = try await bob.replica(of: [Bug.self, House.self])
        try await replica.waitUntilCurrent()
        #expect(await replica.records(Bug.self).map(\.id) == ["b"])
        service.remove(bobID, fromRole: "team")
        try await poll { await replica.records(Bug.self).isEmpty }
        #expect(await replica.records(House.self).map(\.id) == ["h"])
        await replica.close()
    }

    @Test("What went while a role was lost for a moment is gone", .timeLimit(.minutes(1)))
    func roleForMoment() async throws {
        let (service, ada, bob, bobID) = try await clients()
        for id in [try #require(try ada.userID), bobID] { service.add(id, toRole: "team") }
        for id in ["a", "b"] { try await ada.records(Bug.self).create(Bug(title: "Crash"), id: id) }
        let before = try await bob.replica(of: [Bug.self])
        try await before.waitUntilCurrent()
        await before.close()
        service.remove(bobID, fromRole: "team")
        try await ada.records(Bug.self).delete("a")
        service.add(bobID, toRole: "team")
        let after = try await bob.replica(of: [Bug.self])
        try await after.waitUntilCurrent()
        #expect(await after.records(Bug.self).map(\.id) == ["b"])
        await after.close()
    }

    @Test("Photos are in it, without those of others", .timeLimit(.minutes(1)))
    func photos() async throws {
        let (service, ada, bob, _) = try await clients()
        let tablet = try await service.makeClient(signedInAs: "ada@example.com")
        let replica = try await ada.replica(of: ["photos"])
        try await replica.waitUntilCurrent()
        try await bob.photos.upload(.data(TestPhoto.png), title: "bob")
        try await tablet.photos.upload(.data(TestPhoto.png), title: "hidden", isListed: false)
        let first = try await tablet.photos.upload(.data(TestPhoto.png), title: "1")
        let second = try await tablet.photos.upload(.data(TestPhoto.png), title: "2")
        var live = replica.livePhotos.makeAsyncIterator()
        while let photos = await live.next(), photos.count < 2 {}
        #expect(await replica.ownPhotos() == [second, first])
        #expect(try await ada.photos.data(of: first.link) == TestPhoto.png)
        try await tablet.photos.delete(first.id)
        #expect(await live.next() == [second])
        #expect(await replica.ownPhotos() == [second])
        await replica.close()
        #expect(await live.next() == nil)
    }

    @Test("A picture stays on the device while any record has it", .timeLimit(.minutes(1)))
    func sharedPicture() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let selfie = try await service.makeClient(signedInAs: "ada@example.com", folder: folder)
            let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x", isListed: false)
            let houses = selfie.records(House.self)
            for id in ["a", "b"] { try await houses.create(House(address: id, photo: photo.id), id: id) }
            let replica = try await selfie.replica(of: [House.self])
            try await replica.waitUntilCurrent()
            _ = try await selfie.photos.data(of: photo.link)
            func pictures() throws -> Int {
                let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                return paths.filter { $0.contains("/pictures/") }.count
            }
            try await houses.delete("a")
            try await poll { await replica.records(House.self).count == 1 }
            // What the replica removes, it removes at once. Another change follows, so that there was time for it.
            try await houses.create(House(address: "c"), id: "c")
            try await poll { await replica.records(House.self).count == 2 }
            #expect(try pictures() == 1)
            try await houses.delete("b")
            try await poll { try pictures() == 0 }
            await replica.close()
        }
    }

    @Test("It ends with the session, and nobody else finds it on the device", .timeLimit(.minutes(1)))
    func signOut() async throws {
        let (_, selfie, _, _) = try await clients()
        try await selfie.records(House.self).create(House(address: "ada"), id: "h")
        let replica = try await selfie.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        try await selfie.signOut()
        #expect(await replica.status == .ended)
        await #expect(throws: SelfieError.notSignedIn) { try await replica.waitUntilCurrent() }
        await #expect(throws: SelfieError.notSignedIn) { try await selfie.replica(of: [House.self]) }
        try await selfie.signIn(email: "bob@example.com", password: "password")
        let bobs = try await selfie.replica(of: [House.self])
        try await bobs.waitUntilCurrent()
        #expect(await bobs.records(House.self).isEmpty)
        await bobs.close()
    }

    @Test("A session that is ended elsewhere ends it and removes its files", .timeLimit(.minutes(1)))
    func revoked() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let selfie = try await service.makeClient(signedInAs: "ada@example.com", folder: folder)
            let userID = try #require(try selfie.userID)
            try await selfie.records(House.self).create(House(address: "12 Rose Street"), id: "h")
            let replica = try await selfie.replica(of: [House.self])
            try await replica.waitUntilCurrent()
            func files() throws -> [String] {
                try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix("changes") }
            }
            #expect(try files().count == 1)
            service.endSessions(of: userID)
            try await poll { await replica.status == .ended }
            try await poll { try files().isEmpty }
            #expect(try selfie.userID == nil)
        }
    }

    @Test("It goes on with the session of a new password, and nobody is signed out", .timeLimit(.minutes(1)))
    func newPassword() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        let events = ada.sessionEvents
        let replica = try await ada.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        var results = replica.results(House.self).makeAsyncIterator()
        _ = await results.next()
        try await ada.changePassword(from: "password", to: "another password")
        try await ada.records(House.self).create(House(address: "1"), id: "h")
        #expect(try await next(&results) { !$0.isEmpty }.map(\.id) == ["h"])
        #expect(try await ada.replica(of: [House.self]) === replica)
        var event = events.makeAsyncIterator()
        #expect(await event.next() == .began(userID: try ada.userID ?? ""))
        // A wrong password changes nothing.
        await #expect(throws: SelfieError.passwordWrong) { try await ada.changePassword(from: "x", to: "another one") }
        #expect(try ada.userID != nil)
        await replica.close()
    }

    @Test("Another user's sign-in ends what the former one follows", .timeLimit(.minutes(1)))
    func anotherUser() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let adaID = try #require(try selfie.userID)
        let events = selfie.sessionEvents
        try await selfie.records(House.self).create(House(address: "hers"), id: "h")
        let replica = try await selfie.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        var results = replica.results(House.self).makeAsyncIterator()
        #expect(await results.next()?.count == 1)
        try await selfie.signUp(email: "bob@example.com", password: "password", firstName: "Bob", lastName: "B")
        try await selfie.signIn(email: "bob@example.com", password: "password")
        #expect(await results.next() == nil)
        var event = events.makeAsyncIterator()
        #expect(await event.next() == .ended(userID: adaID, .replaced))
        #expect(try await selfie.replica(of: [House.self]).records(House.self).isEmpty)
    }
}
