import Foundation
import Testing

@testable import SelfieClient

@Suite("An outbox on disk")
struct OutboxStoreTests {
    /// An outbox's store with its queue, opened as an outbox does it.
    private struct Opened {
        let store: OutboxStore
        private(set) var queue: OutboxQueue
        let wasDamaged: Bool

        init(_ folder: URL, disk: Disk = Disk()) throws {
            var queue = OutboxQueue()
            store = try OutboxStore(folder: folder, userID: "ada", disk: disk) { queue.apply($0) }
            wasDamaged = store.isDamaged
            store.putDamageAside(queue)
            store.removeFiles(without: queue)
            self.queue = queue
        }

        mutating func record(_ event: OutboxEvent) throws {
            try store.append(event)
            queue.apply(event)
            store.compact(queue)
        }
    }

    private static func write(_ id: String) -> StoredItem {
        let write = RecordWrite(path: ["records", "houses", id], kind: .put, body: ["data": [:]])
        return StoredItem(id: UUID(), createdAt: Date(timeIntervalSince1970: 0), content: .write(write))
    }

    private static func upload() -> StoredItem {
        let id = UUID()
        let file = UploadFile(title: "x", name: "photo", isListed: true, id: id)
        return StoredItem(id: id, createdAt: Date(timeIntervalSince1970: 0), content: .upload(file, byteCount: 5))
    }

    /// Makes an outbox of an upload and a record, and damages the upload's line.
    private static func makeDamaged(_ folder: URL) throws -> (upload: StoredItem, write: StoredItem) {
        let (upload, write) = (upload(), write("h"))
        do {
            var opened = try Opened(folder)
            for item in [upload, write] { try opened.record(.added(item)) }
            try Data("photo".utf8).write(to: opened.store.file(of: upload.id))
        }
        let log = folder.appendingPathComponent("log")
        var data = try Data(contentsOf: log)
        let place = try #require(data.range(of: Data(upload.id.uuidString.utf8)))
        data[place.lowerBound] ^= 0xFF
        // The file stays the same one.
        let handle = try FileHandle(forWritingTo: log)
        try handle.write(contentsOf: data)
        try handle.close()
        return (upload, write)
    }

    private static func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("A damaged log is put aside with the photos of lost lines, and a new one stays small")
    func damaged() async throws {
        try await TestFolder.with { folder in
            let (upload, write) = try Self.makeDamaged(folder)
            let (log, aside) = (folder.appendingPathComponent("log"), folder.appendingPathComponent("damaged"))
            let contents = try Data(contentsOf: log)
            do {
                var opened = try Opened(folder)
                #expect(opened.wasDamaged && !opened.store.isDamaged)
                #expect(opened.queue.items.map(\.id) == [write.id])
                #expect(try Data(contentsOf: aside.appendingPathComponent("log")) == contents)
                #expect(try TestFolder.mode(of: aside.appendingPathComponent("log")) == 0o600)
                #expect(try TestFolder.mode(of: aside) == 0o700)
                let photo = try Data(contentsOf: aside.appendingPathComponent(upload.id.uuidString))
                #expect(photo == Data("photo".utf8))
                for number in 1...200 {
                    let item = Self.write("\(number)")
                    try opened.record(.added(item))
                    try opened.record(.done(item.id, photoID: nil))
                }
                #expect(try Data(contentsOf: log).count < 50_000)
                try Data().write(to: opened.store.file(of: UUID()))
            }
            let again = try Opened(folder)
            #expect(!again.wasDamaged && again.queue.items.map(\.id) == [write.id])
            // What a crash leaves goes as ever.
            #expect(try Self.names(folder.appendingPathComponent("uploads")).isEmpty)
        }
    }

    @Test("The two last damages are kept, for 30 days")
    func damagedAgain() async throws {
        try await TestFolder.with { folder in
            for number in 1...3 {
                _ = try Self.makeDamaged(folder)
                #expect(try Opened(folder).wasDamaged)
                let expected = ["damaged", "damaged-before"].prefix(number) + ["lock", "log", "uploads"]
                #expect(try Self.names(folder) == Array(expected))
            }
            for (name, days) in [("damaged", 29.0), ("damaged-before", 31)] {
                let attributes = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -days * 24 * 3600)]
                let path = folder.appendingPathComponent(name).path
                try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
            }
            _ = try Opened(folder)
            #expect(try Self.names(folder) == ["damaged", "lock", "log", "uploads"])
        }
    }

    @Test("Whenever the app ends while a log is put aside, the next start goes on, and nothing is lost")
    func damagedAndEnded() async throws {
        try await TestFolder.with { folder in
            var (steps, isWhole) = (0, false)
            while !isWhole, steps < 50 {
                let place = folder.appendingPathComponent("\(steps)")
                // One that was put aside before, and stays.
                let before = try Self.makeDamaged(place)
                _ = try Opened(place)
                let now = try Self.makeDamaged(place)
                let left = Locked(steps)
                let disk = Disk { _ in
                    let isOver = left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                    if isOver { throw SelfieError.diskFull }
                }
                do {
                    let opened = try Opened(place, disk: disk)
                    isWhole = !opened.store.isDamaged
                    #expect(opened.queue.contains(now.write.id))
                }
                let opened = try Opened(place)
                #expect(opened.queue.contains(now.write.id), "\(steps)")
                #expect(!opened.store.isDamaged && (!isWhole || !opened.wasDamaged), "\(steps)")
                for (name, upload) in [("damaged", now.upload), ("damaged-before", before.upload)] {
                    let file = place.appendingPathComponent(name).appendingPathComponent(upload.id.uuidString)
                    #expect(FileManager.default.fileExists(atPath: file.path), "\(name) after \(steps) steps")
                }
                steps += 1
            }
            #expect(isWhole && steps > 5)
        }
    }

    @Test("A line of another version hides no item, and stays with all files")
    func unknownLine() async throws {
        try await TestFolder.with { folder in
            let item = Self.write("h")
            let unknown = Data(#"{"moved":{"to":"elsewhere"}}"#.utf8)
            do {
                var opened = try Opened(folder)
                try opened.record(.added(item))
                try Data().write(to: opened.store.file(of: UUID()))
            }
            let log = folder.appendingPathComponent("log")
            do {
                try FrameLog(file: log, disk: Disk()) { _ in }.append(unknown)
            }
            do {
                var opened = try Opened(folder)
                #expect(opened.queue.items.map(\.id) == [item.id] && !opened.wasDamaged)
                for _ in 0..<1000 { try opened.record(.retried(UUID())) }
                #expect(try Data(contentsOf: log).count < 10_000)
            }
            #expect(try Opened(folder).queue.items.map(\.id) == [item.id])
            #expect(try Data(contentsOf: log).range(of: unknown) != nil)
            #expect(try Self.names(folder.appendingPathComponent("uploads")).count == 1)
        }
    }
}
