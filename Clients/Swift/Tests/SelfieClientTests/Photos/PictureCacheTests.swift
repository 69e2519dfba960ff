import Foundation
import Testing

@testable import SelfieClient

@Suite("Pictures on the device")
struct PictureCacheTests {
    private static let picture = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private static func files(_ folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }

    @Test("A picture is there as it was kept, also for the next start, and only its owner can read it")
    func kept() async throws {
        try await TestFolder.with { folder in
            let cache = PictureCache(folder: folder, maxBytes: 1 << 20)
            #expect(await cache.picture("a", .original) == nil)
            await cache.keep(Self.picture, "a", .original)
            await cache.keep(Data(), "a", .small)
            let next = PictureCache(folder: folder, maxBytes: 1 << 20)
            #expect(await next.picture("a", .original) == Self.picture)
            #expect(await next.picture("a", .small)?.isEmpty == true)
            #expect(await next.picture("a", .medium) == nil)
            for file in try Self.files(folder) { #expect(try TestFolder.mode(of: file) == 0o600) }
            await next.remove("a")
            #expect(try Self.files(folder).isEmpty)
        }
    }

    /// What a power cut leaves of a file whose blocks were not all written.
    enum Damage: CaseIterable {
        case empty, cutOff, zeros, zerosAtTheEnd, oneBit

        func apply(_ bytes: Data) -> Data {
            var bytes = bytes
            switch self {
            case .empty: bytes = Data()
            case .cutOff: bytes = bytes.prefix(4096)
            case .zeros: bytes.resetBytes(in: 0..<bytes.count)
            case .zerosAtTheEnd: bytes.resetBytes(in: 4096..<bytes.count)
            case .oneBit: bytes[5_000] ^= 1
            }
            return bytes
        }
    }

    @Test("A torn picture is never shown, and its room is free again", arguments: Damage.allCases)
    func torn(damage: Damage) async throws {
        try await TestFolder.with { folder in
            await PictureCache(folder: folder, maxBytes: 1 << 20).keep(Self.picture, "a", .original)
            let file = try #require(try Self.files(folder).first)
            try damage.apply(try Data(contentsOf: file)).write(to: file)
            let cache = PictureCache(folder: folder, maxBytes: 1 << 20)
            #expect(await cache.picture("a", .original) == nil)
            #expect(try Self.files(folder).isEmpty)
            await cache.keep(Self.picture, "a", .original)
            #expect(await cache.picture("a", .original) == Self.picture)
        }
    }

    @Test("The pictures have no more bytes than they may, and those that were looked at last stay")
    func room() async throws {
        try await TestFolder.with { folder in
            let cache = PictureCache(folder: folder, maxBytes: 45_000)
            for id in ["a", "b", "c", "d"] {
                await cache.keep(Self.picture, id, .original)
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(await cache.picture("a", .original) != nil)
            await cache.keep(Self.picture, "e", .original)
            let bytes = try Self.files(folder).map { try Data(contentsOf: $0).count }.reduce(0, +)
            #expect(bytes <= 45_000)
            #expect(await cache.picture("b", .original) == nil)
            #expect(await cache.picture("a", .original) != nil)
            #expect(await cache.picture("e", .original) != nil)
        }
    }
}
