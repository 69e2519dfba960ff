import Foundation
import SelfieTesting
import Testing

@testable import SelfieClient

@Suite("The files of a replica")
struct ReplicaFileTests {
    private static func log(_ folder: URL) throws -> URL {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return folder.appendingPathComponent(try #require(paths.first { $0.hasSuffix("/changes") }))
    }

    /// The places of the frames of a log.
    private static func frames(_ log: Data) -> [Int] {
        var (places, place) = ([Int](), log.startIndex)
        while let next = log.range(of: Data("SLF1".utf8), in: place..<log.endIndex) {
            places.append(next.lowerBound)
            place = next.upperBound
        }
        return places
    }

    private static func damage(_ folder: URL, frame: (_ count: Int) -> Int) throws {
        let file = try log(folder)
        var data = try Data(contentsOf: file)
        let places = frames(data)
        data[places[frame(places.count)] + 20] ^= 0xFF
        try data.write(to: file)
    }

    @Test("Behind damage it goes on where the sound part ends", .timeLimit(.minutes(1)))
    func damage() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let store = MemoryTokenStore()
            let tablet = try await service.makeClient(signedInAs: "ada@example.com")
            let houses = tablet.records(House.self)
            let selfie = service.makeClient(folder: folder, tokenStore: store)
            try await selfie.signIn(email: "ada@example.com", password: "password")
            var replica = try await selfie.replica(of: [House.self])
            try await replica.waitUntilCurrent()
            for number in 0..<5 {
                try await houses.create(House(address: "\(number)"), id: "\(number)")
                try await poll { await replica.records(House.self).count == number + 1 }
            }
            try await houses.delete("0")
            try await poll { await replica.records(House.self).count == 4 }
            await replica.close()
            let before = try Data(contentsOf: Self.log(folder)).count
            // The change that deletes the first, and one in the middle.
            try Self.damage(folder) { _ in 3 }
            service.isOffline = true
            replica = try await selfie.replica(of: [House.self])
            #expect(await replica.records(House.self).map(\.id) == ["0", "1"])
            service.isOffline = false
            try await replica.waitUntilCurrent()
            #expect(await replica.records(House.self).map(\.id) == ["1", "2", "3", "4"])
            await replica.close()
            service.isOffline = true
            replica = try await selfie.replica(of: [House.self])
            #expect(await replica.records(House.self).map(\.id) == ["1", "2", "3", "4"])
            #expect(try Data(contentsOf: Self.log(folder)).count <= before)
            await replica.close()
        }
    }

    @Test("If too little is sound to go on from, it is loaded anew and forgets what has gone", .timeLimit(.minutes(1)))
    func damagedBase() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let selfie = try await service.makeClient(signedInAs: "ada@example.com", folder: folder)
            let houses = selfie.records(House.self)
            for page in 0..<6 {
                try await houses.create(contentsOf: (0..<100).map { House(address: "\(page * 100 + $0)") })
            }
            var replica = try await selfie.replica(of: [House.self])
            try await replica.waitUntilCurrent()
            service.endCursors()
            // It is written anew, as two pages without a cursor and the cursor.
            try await poll { try Self.frames(Data(contentsOf: Self.log(folder))).count == 3 }
            await replica.close()
            try Self.damage(folder) { $0 - 2 }
            service.isOffline = true
            replica = try await selfie.replica(of: [House.self])
            #expect(await replica.records(House.self).count == 500)
            let gone = try #require(await replica.records(House.self).first)
            await replica.close()
            service.isOffline = false
            try await houses.delete(gone.id)
            replica = try await selfie.replica(of: [House.self])
            try await replica.waitUntilCurrent()
            #expect(await replica.records(House.self).count == 599)
            #expect(await replica.record(gone.id, House.self) == nil)
            await replica.close()
            service.isOffline = true
            replica = try await selfie.replica(of: [House.self])
            #expect(await replica.records(House.self).count == 599)
            await replica.close()
        }
    }

    @Test("A page of another version counts as damage", .timeLimit(.minutes(1)))
    func otherVersion() async throws {
        try await TestFolder.with { folder in
            let service = try TestSchema.service()
            let selfie = try await service.makeClient(signedInAs: "ada@example.com", folder: folder)
            try await selfie.records(House.self).create(House(address: "1"), id: "1")
            var replica = try await selfie.replica(of: [House.self])
            try await replica.waitUntilCurrent()
            await replica.close()
            let file = try Self.log(folder)
            do {
                let log = try FrameLog(file: file, disk: Disk()) { _ in }
                try log.append(Data("something else".utf8))
                try log.append(JSONCoding.encode(ChangePage(changes: [], cursor: "later", more: false)))
            }
            for _ in 1...2 {
                service.isOffline = true
                replica = try await selfie.replica(of: [House.self])
                #expect(await replica.records(House.self).map(\.id) == ["1"])
                service.isOffline = false
                try await replica.waitUntilCurrent()
                #expect(await replica.records(House.self).map(\.id) == ["1"])
                await replica.close()
            }
            #expect(service.receivedCalls.allSatisfy { $0.status != 400 })
        }
    }

    @Test("All who ask for a replica that was closed get the same new one", .timeLimit(.minutes(1)))
    func closedAndOpened() async throws {
        try await TestFolder.with { folder in
            let transport = ScriptedTransport { _, _ in throw TransportError.notConnected }
            let selfie = try Selfie.scripted(transport, folder: folder)
            for _ in 0..<100 {
                await (try selfie.replica(of: ["photos"])).close()
                let opened = try await withThrowingTaskGroup(of: Replica.self) { group in
                    for _ in 0..<8 { group.addTask { try await selfie.replica(of: ["photos"]) } }
                    return try await group.reduce(into: [Replica]()) { $0.append($1) }
                }
                #expect(opened.allSatisfy { $0 === opened[0] })
            }
        }
    }
}
