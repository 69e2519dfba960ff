import Foundation
import LinuxFiles
import NIOCore
import NIOFoundationCompat
import S3
import ServerProcesses
import TestSupport
import Testing

@testable import ObjectStore

@Suite("Objects on disk", .timeLimit(.minutes(2)))
struct DiskObjectStoreTests {
    private func withStore(_ body: (DiskObjectStore, URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "disk-store-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(DiskObjectStore(directory: folder.appending(path: "a/b").path), folder.appending(path: "a/b"))
    }

    private func object(_ bytes: Data) async throws -> SpooledObject {
        var spool = Spool()
        try await spool.append(ByteBuffer(data: bytes))
        try await spool.append(ByteBuffer())
        return try await spool.finish()
    }

    private func read(_ store: DiskObjectStore, _ key: String) async throws -> Data? {
        guard let object = try await store.open(key: key, range: nil) else { return nil }
        guard case .file(let file, let range) = object.bytes else { return nil }
        #expect(range == 0..<object.length)
        return Data(buffer: try await file.bytes(in: range))
    }

    /// Every file below a folder, the unfinished ones too.
    private func files(in folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0 != ".incoming" }.sorted()
    }

    @Test("An object is stored, read, replaced and deleted", arguments: [1, 1000, 3 << 20])
    func life(count: Int) async throws {
        try await withStore { store, folder in
            let (first, second) = (TestImage.png(bytes: count + 8), TestImage.png(bytes: count + 9, seed: 1))
            try await store.put(try await object(first), key: "Key-1_x", contentType: "image/png")
            #expect(try await read(store, "Key-1_x") == first)
            try await store.put(try await object(second), key: "Key-1_x", contentType: "image/png")
            #expect(try await read(store, "Key-1_x") == second)
            #expect(try files(in: folder) == ["Key-1_x"])
            try await store.delete(ObjectDeletion(key: "Key-1_x"))
            #expect(try await read(store, "Key-1_x") == nil)
            try await store.delete(ObjectDeletion(key: "Key-1_x"))
            #expect(try files(in: folder).isEmpty)
        }
    }

    @Test("A key that no file can have keeps no other object from being deleted")
    func oddKey() async throws {
        try await withStore { store, folder in
            try await store.put(try await object(TestImage.jpeg), key: "key", contentType: "image/jpeg")
            let failures = try await store.delete([ObjectDeletion(key: "../a/b"), ObjectDeletion(key: "key")])
            #expect(Array(failures.keys) == ["../a/b"])
            #expect(try files(in: folder).isEmpty)
        }
    }

    @Test("Only this user can read the objects")
    func permissions() async throws {
        try await withStore { store, folder in
            try await store.put(try await object(TestImage.jpeg), key: "key", contentType: "image/jpeg")
            let folderMode = try FileManager.default.attributesOfItem(atPath: folder.appending(path: ".incoming").path)
            let fileMode = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "key").path)
            #expect(folderMode[.posixPermissions] as? Int == 0o700)
            #expect(fileMode[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(
        "No key leads out of the folder or into its own files",
        arguments: [
            "", ".", "..", "../key", "a/b", "/etc/passwd", "/", ".incoming", ".incoming/key", ".hidden", "a\0b", "a/",
            String(repeating: "k", count: 256), String(repeating: "ü", count: 128),
        ]
    )
    func badKeys(key: String) async throws {
        try await withStore { store, folder in
            let object = try await object(TestImage.jpeg)
            await #expect { try await store.put(object, key: key, contentType: "image/jpeg") } throws: {
                isInvalidKey($0)
            }
            await #expect { try await store.delete(ObjectDeletion(key: key)) } throws: { isInvalidKey($0) }
            await #expect { _ = try await store.open(key: key, range: nil) } throws: {
                isInvalidKey($0)
            }
            #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path) == [".incoming"])
        }
    }

    @Test("The longest key is taken")
    func longestKey() async throws {
        try await withStore { store, _ in
            let key = String(repeating: "k", count: 255)
            try await store.put(try await object(TestImage.jpeg), key: key, contentType: "image/jpeg")
            #expect(try await read(store, key) == TestImage.jpeg)
        }
    }

    @Test("A put that fails half-way leaves nothing, and what was there before stays")
    func failedPut() async throws {
        try await withStore { store, folder in
            try await store.put(try await object(TestImage.jpeg), key: "key", contentType: "image/jpeg")
            let whole = try await object(TestImage.png(bytes: 2 << 20))
            let short = SpooledObject(
                storage: whole.storage,
                reservation: whole.reservation,
                length: whole.length + 1
            )
            for key in ["key", "other"] {
                await #expect(throws: ObjectStoreError.self) {
                    try await store.put(short, key: key, contentType: "image/png")
                }
            }
            #expect(try files(in: folder) == ["key"])
            #expect(try await read(store, "key") == TestImage.jpeg)
        }
    }

    @Test("Readers of an object that is replaced or deleted get the old one or the new one whole")
    func atomicity() async throws {
        try await withStore { store, _ in
            let versions = try await [0, 1].asyncMap { try await object(TestImage.png(bytes: 300_000, seed: $0)) }
            let allowed: [Data?] = [nil, TestImage.png(bytes: 300_000), TestImage.png(bytes: 300_000, seed: 1)]
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for version in versions {
                    tasks.addTask {
                        for _ in 0..<20 { try await store.put(version, key: "key", contentType: "image/png") }
                    }
                }
                tasks.addTask { for _ in 0..<20 { try await store.delete(ObjectDeletion(key: "key")) } }
                tasks.addTask {
                    for _ in 0..<60 {
                        let found = try await read(store, "key")
                        #expect(allowed.contains(found))
                    }
                }
                try await tasks.waitForAll()
            }
        }
    }

    @Test("Leftovers that are older than the limit are removed, younger ones and objects are left alone")
    func leftovers() async throws {
        try await withStore { store, folder in
            let limit = Date(timeIntervalSinceNow: -40)
            for (name, age) in [("old", -41.0), ("young", -39), ("new", 0)] {
                let path = folder.appending(path: ".incoming/\(name)").path
                try Data("half".utf8).write(to: URL(filePath: path))
                let date = Date(timeIntervalSinceNow: age)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            }
            try await store.put(try await object(TestImage.jpeg), key: "key", contentType: "image/jpeg")
            let objectPath = folder.appending(path: "key").path
            try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: objectPath)
            try await store.removeLeftovers(from: limit)
            #expect(try files(in: folder) == [".incoming/new", ".incoming/young", "key"])
        }
    }

    @Test("A new store takes over the objects of the one before")
    func takeOver() async throws {
        try await withStore { store, folder in
            try await store.put(try await object(TestImage.jpeg), key: "key", contentType: "image/jpeg")
            #expect(try await read(DiskObjectStore(directory: folder.path), "key") == TestImage.jpeg)
        }
    }
}

private func isInvalidKey(_ error: any Error) -> Bool {
    if case ObjectStoreError.invalidKey = error { true } else { false }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
