import Foundation
import ServerProcesses
import TestSupport
import Testing

@testable import ImageFiles

@Suite("An image's size, by its file's structure")
struct ImageFileTests {
    /// Photos that other programs wrote: Pillow 12, libjpeg-turbo, libwebp, libheif and libavif.
    static let samples: [String: [UInt8]] = {
        let folder = ProjectFolder.root.appending(path: "Tests/ImageFilesTests/Samples")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, Array((try? Data(contentsOf: folder.appending(path: name))) ?? Data()))
            }
        )
    }()

    private static let formats: [String: ImageFormat] = [
        "jpg": .jpeg, "png": .png, "gif": .gif, "webp": .webp, "heic": .heic, "avif": .avif,
    ]

    static func sample(_ name: String) throws -> [UInt8] { try #require(samples[name]) }

    /// Reads bytes, a window at a time.
    static func read(
        _ bytes: some RandomAccessCollection<UInt8>,
        windowBytes: Int = 16 * 1024,
        mustBeWhole: Bool = false
    ) async throws -> ImageFile? {
        let bytes = Array(bytes)
        return try await ImageFile.read(length: bytes.count, windowBytes: windowBytes, mustBeWhole: mustBeWhole) {
            Array(bytes[$0])
        }
    }

    @Test(
        "Photos of all formats have the size in their names, rotated where the camera was",
        arguments: samples.keys
    )
    func sizes(name: String) async throws {
        let parts = try #require(name.wholeMatch(of: /\w+-(\d+)x(\d+)\.(\w+)/)).output
        let expected = ImageFile(
            format: try #require(Self.formats[String(parts.3)]),
            size: try ImageSize(width: #require(Int(parts.1)), height: #require(Int(parts.2)))
        )
        for windowBytes in [1, 7, 64, 16 * 1024] {
            for mustBeWhole in [false, true] {
                let image = try await Self.read(
                    try Self.sample(name),
                    windowBytes: windowBytes,
                    mustBeWhole: mustBeWhole
                )
                #expect(image == expected, "in windows of \(windowBytes) bytes, whole: \(mustBeWhole)")
            }
        }
    }

    @Test("There are samples of all formats and kinds")
    func allSamples() {
        #expect(Self.samples.count == 20)
        let formats = Set(Self.samples.keys.compactMap { $0.split(separator: ".").last }.map(String.init))
        #expect(formats == Set(Self.formats.keys))
    }

    @Test(
        "A file that ends before its size is no photo, and one that need not be whole has the same size if it ends later",
        arguments: samples.keys
    )
    func truncated(name: String) async throws {
        let whole = try Self.sample(name)
        let image = try await Self.read(whole)
        var results: [ImageFile?] = []
        for count in 0...whole.count { results.append(try await Self.read(whole.prefix(count))) }
        let first = try #require(results.firstIndex { $0 != nil })
        #expect(first > 16)
        #expect(results[first...].allSatisfy { $0 == image })
    }

    @Test("A long photo is read at a few offsets only", .onDedicatedThreads)
    func readsLittle() async throws {
        // Cameras put megabytes of metadata in front of the frame.
        var photo = try Self.sample("baseline-31x17.jpg")
        let segment = [0xFF, 0xE2, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 0xFFFD)
        photo.insert(contentsOf: Array(repeating: segment, count: 40).joined(), at: 2)
        photo += [UInt8](repeating: 0, count: 5_000_000)
        let (count, bytes) = (photo.count, photo)
        var asked = 0
        let image = try await ImageFile.read(length: count, windowBytes: 512) { range in
            asked += range.count
            return Array(bytes[range])
        }
        #expect(image?.size == (try ImageSize(width: 31, height: 17)))
        #expect(asked < 50_000)
    }

    @Test("No more than 16,384 pieces are read of a file")
    func steps() async throws {
        // Each fill byte takes a piece, and all else a dozen.
        for (fillCount, isPhoto) in [(16_360, true), (16_390, false)] {
            var photo: [UInt8] = [0xFF, 0xD8]
            photo += [UInt8](repeating: 0xFF, count: fillCount)
            photo += [0xFF, 0xC0, 0, 11, 8, 0, 17, 0, 31, 1, 1, 0x11, 0, 0xFF, 0xDA]
            #expect((try await Self.read(photo) != nil) == isPhoto, "\(fillCount)")
        }
    }

    @Test("What reading throws is thrown on")
    func failure() async throws {
        struct DiskError: Error {}
        await #expect(throws: DiskError.self) {
            _ = try await ImageFile.read(length: 100) { _ in throw DiskError() }
        }
    }

    @Test("A reader that gives fewer bytes than there are has no photo")
    func shortRead() async throws {
        let image = try await ImageFile.read(length: 100) { _ in [0xFF] }
        #expect(image == nil)
    }
}
