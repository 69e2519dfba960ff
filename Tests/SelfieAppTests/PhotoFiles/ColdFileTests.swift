import ConnectionTestSupport
import Foundation
import Glibc
import NIOFoundationCompat
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import LinuxFiles
@testable import ObjectStore

@Suite("Files that the system has in memory, or not", .timeLimit(.minutes(1)))
struct ColdFileTests {
    private static let image = TestImage.png(bytes: 1_300_000)

    /// Has the system forget what it holds of a file.
    private static func forget(_ path: String) throws {
        let file = try #require(try PosixFile.open(path: path))
        try file.synchronize()
        #expect(posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0)
    }

    @Test("A file that has to be read from the disk is served whole, and in parts")
    func served() async throws {
        try await TestService.run { service in
            guard case .disk(let folder) = service.objects else { throw NotInTime(what: "a folder") }
            let photo = try await service.uploadedPhoto(Self.image)
            try Self.forget(folder.appending(path: photo.randomID).path)
            let answer = try await service.send("GET", photo.target)
            let isSame = answer.body == Self.image
            #expect(isSame)
            try Self.forget(folder.appending(path: photo.randomID).path)
            let part = try await service.send("GET", photo.target, headers: [("Range", "bytes=600000-1299999")])
            let isSamePart = part.body == Self.image[600_000...]
            #expect(isSamePart)
        }
    }

    @Test("Reading a range brings it into memory")
    func memory() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cold-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Self.image.write(to: URL(filePath: path))
        let file = try #require(try PosixFile.open(path: path))
        let all = 0..<Self.image.count
        // Some file systems can't say, and all files on them count as cold.
        let canTell = file.isInMemory(all)
        // The system may be slow to let go of what was just written.
        try await poll("the file is cold") {
            try Self.forget(path)
            return !file.isInMemory(all)
        }
        try await file.bringIntoMemory(all)
        #expect(file.isInMemory(all) == canTell)
        #expect(!file.isInMemory(0..<Self.image.count + 1))
        #expect(file.isInMemory(0..<0))
        await #expect(throws: FileEndedEarly.self) { try await file.bringIntoMemory(0..<Self.image.count + 1) }
    }

    @Test("A file is found or missing, also where the system does not know at once")
    func opening() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "opening-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try DiskObjectStore(directory: folder.path)
        let missing = try await store.open(key: "a", range: nil)
        #expect(missing?.length == nil)
        #expect(try await store.length(key: "a") == nil)
        try Self.image.write(to: folder.appending(path: "a"))
        for range in [nil, 0..<10, 10..<Self.image.count] {
            let object = try #require(try await store.open(key: "a", range: range))
            #expect(object.length == Self.image.count)
            guard case .file(let file, let given) = object.bytes else { throw NotInTime(what: "a file") }
            #expect(given == range ?? 0..<Self.image.count)
            #expect(Data(buffer: try await file.bytes(in: given)) == Self.image[given])
        }
        #expect(try await store.length(key: "a") == Self.image.count)
        await #expect(throws: ObjectStoreError.self) {
            try await store.open(key: "a", range: 0..<Self.image.count + 1)
        }
        switch PosixFile.openQuickly(path: folder.appending(path: "a").path) {
        case .found, .mayBlock: break
        case .missing: Issue.record("a file that is there is missing")
        }
    }
}
