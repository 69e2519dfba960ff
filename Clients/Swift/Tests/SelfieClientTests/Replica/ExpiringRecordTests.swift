import Foundation
import SelfieTesting
import Testing

@testable import SelfieClient

@Suite("Records that expire in a replica")
struct ExpiringRecordTests {
    @Test("A clock that is ahead hides them, and they are back when it is set", .timeLimit(.minutes(1)))
    func clockAhead() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let ahead = Locked<TimeInterval>(0)
            let selfie = try await service.makeClient(signedInAs: "ada@example.com", folder: folder) {
                $0.now = { Date() + ahead.withLock(\.self) }
            }
            let houses = selfie.records(House.self)
            let photo = try await selfie.photos.upload(.data(TestPhoto.png), title: "x", isListed: false)
            let house = House(address: "1", photo: photo.id)
            try await houses.create(house, id: "expires", expiresAt: Date() + 3600)
            var replica = try await selfie.replica(of: [House.self])
            try await replica.waitUntilCurrent()
            var changes = replica.changes(House.self).makeAsyncIterator()
            #expect(await changes.next()?.inserted.map(\.id) == ["expires"])
            _ = try await selfie.photos.data(of: photo.link)
            func pictures() throws -> Int {
                let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                return paths.filter { $0.contains("/pictures/") }.count
            }
            #expect(try pictures() == 1)

            ahead.withLock { $0 = 7200 }
            try await houses.create(House(address: "2"), id: "stays")
            var removed: [String] = []
            while removed.isEmpty, let change = await changes.next() { removed = change.removed }
            #expect(removed == ["expires"])
            #expect(await replica.records(House.self).map(\.id) == ["stays"])
            #expect(await replica.record("expires", House.self) == nil)
            try await poll { try pictures() == 0 }
            await replica.close()
            replica = try await selfie.replica(of: [House.self])
            #expect(await replica.records(House.self).map(\.id) == ["stays"])
            try await replica.waitUntilCurrent()
            changes = replica.changes(House.self).makeAsyncIterator()
            #expect(await changes.next()?.inserted.map(\.id) == ["stays"])

            ahead.withLock { $0 = 0 }
            // Each page of changes is a moment to look.
            try await houses.create(House(address: "3"), id: "third")
            var inserted: Set<String> = []
            while inserted.count < 2, let change = await changes.next() {
                inserted.formUnion(change.inserted.map(\.id))
            }
            #expect(inserted == ["third", "expires"])
            #expect(await replica.records(House.self).map(\.id) == ["expires", "stays", "third"])
            await replica.close()
        }
    }

    @Test("Without a network, they go in time", .timeLimit(.minutes(1)))
    func inTime() async throws {
        let service = try TestSchema.service()
        let selfie = try await service.makeClient(signedInAs: "ada@example.com")
        let houses = selfie.records(House.self)
        try await houses.create(House(address: "1"), id: "soon", expiresAt: Date() + 1)
        try await houses.create(House(address: "2"), id: "later", expiresAt: Date() + 3600)
        let replica = try await selfie.replica(of: [House.self])
        try await replica.waitUntilCurrent()
        service.isOffline = true
        var results = replica.results(House.self).makeAsyncIterator()
        while let ids = await results.next()?.map(\.id), ids != ["later"] { #expect(ids == ["soon", "later"]) }
        #expect(await replica.records(House.self).map(\.id) == ["later"])
        await replica.close()
    }
}
