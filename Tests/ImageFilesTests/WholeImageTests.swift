import Foundation
import Testing

@testable import ImageFiles

@Suite("Images that are cut off")
struct WholeImageTests {
    /// The start of a JPEG of one pixel, as far as its first scan.
    private static let jpegStart: [UInt8] = [
        0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xFF, 0xDA,
    ]
    private static let jpegEnd: [UInt8] = [0xFF, 0xD9]
    private static let pngEnd: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]

    private static func isPhoto(_ bytes: [UInt8]) async throws -> Bool {
        try await ImageFileTests.read(bytes, mustBeWhole: true) != nil
    }

    @Test(
        "No beginning of a photo is a whole one",
        arguments: ImageFileTests.samples.keys.filter { name in ["jpg", "png", "webp"].contains { name.hasSuffix($0) } }
    )
    func beginnings(name: String) async throws {
        let whole = try ImageFileTests.sample(name)
        #expect(try await Self.isPhoto(whole))
        for count in 0..<whole.count {
            #expect(try await !Self.isPhoto(Array(whole.prefix(count))), "\(count) of \(whole.count) bytes")
        }
    }

    @Test(
        "A HEIC or AVIF that is cut within its boxes of pictures is no photo",
        arguments: [
            ("photo-64x48.heic", [409..<417]), ("turned-48x64.heic", [484..<492]), ("photo-64x48.avif", [267..<275]),
            ("turned-48x64.avif", [342..<350]), ("animated-64x48.avif", [279..<287, 989..<997]),
        ] as [(String, [Range<Int>])]
    )
    func boxes(name: String, heads: [Range<Int>]) async throws {
        let whole = try ImageFileTests.sample(name)
        #expect(try await Self.isPhoto(whole))
        for count in 0..<whole.count {
            // Half a head of a box may be anything.
            let isPhoto = heads.contains { $0.contains(count) }
            #expect(try await Self.isPhoto(Array(whole.prefix(count))) == isPhoto, "\(count) of \(whole.count) bytes")
        }
    }

    @Test("A GIF may lack its end, as many do")
    func gif() async throws {
        for name in ["still-31x17.gif", "animated-31x17.gif"] {
            #expect(try await Self.isPhoto(try ImageFileTests.sample(name).dropLast()))
        }
    }

    @Test("Other bytes may follow a photo of any format", arguments: ImageFileTests.samples.keys)
    func trailing(name: String) async throws {
        let whole = try ImageFileTests.sample(name)
        for tail in [[0], [0xFF], Array(repeating: 0, count: 70_000), Array("SEFT and other words".utf8)] as [[UInt8]] {
            #expect(try await Self.isPhoto(whole + tail), "\(tail.count) bytes")
        }
    }

    @Test("A photo's end is found wherever it lies, in pieces of 64 KiB")
    func anywhere() async throws {
        let png = Array(try ImageFileTests.sample("rgb-31x17.png").prefix(33))
        for (start, end) in [(Self.jpegStart, Self.jpegEnd), (png, Self.pngEnd)] {
            for count in [0, 1] + Array(65_520...65_540) + Array(131_055...131_075) {
                let head = start + Array(repeating: 0x7F, count: count)
                #expect(try await Self.isPhoto(head + end), "\(count)")
                #expect(try await Self.isPhoto(head + end + [0x7F]), "\(count), and a byte")
                #expect(try await !Self.isPhoto(head + end.dropLast() + [0x7F, 0x7F]), "\(count), without an end")
            }
        }
    }

    @Test("A long photo is read at its end, and one with bytes behind it as far as that, 64 KiB at a time")
    func readsLittle() async throws {
        let pixels = [UInt8](repeating: 0, count: 5_000_000)
        let photo = try ImageFileTests.sample("baseline-31x17.jpg")
        for (bytes, maxBytes, isPhoto) in [
            (Self.jpegStart + pixels + Self.jpegEnd, 20_000, true),
            (photo + pixels, 90_000, true),
            (Self.jpegStart + pixels, 5_030_000, false),
        ] {
            var (asked, largest) = (0, 0)
            let image = try await ImageFile.read(length: bytes.count, mustBeWhole: true) { range in
                asked += range.count
                largest = max(largest, range.count)
                return Array(bytes[range])
            }
            #expect((image != nil) == isPhoto)
            #expect(asked <= maxBytes)
            #expect(largest <= 65_536)
        }
    }

    @Test("A reader that gives fewer bytes than there are behind the size has no whole photo")
    func shortRead() async throws {
        let image = try await ImageFile.read(length: 1_000_000, mustBeWhole: true) { range in
            range.lowerBound == 0 ? Self.jpegStart + Array(repeating: 0, count: range.count - 17) : []
        }
        #expect(image == nil)
    }

    @Test("What reading the end throws is thrown on", arguments: ["baseline-31x17.jpg", "photo-64x48.avif"])
    func failure(name: String) async throws {
        struct DiskError: Error {}
        let photo = try ImageFileTests.sample(name)
        // A large box behind the photo, whose successor lies beyond the first window.
        let bytes = photo + [0, 0, 0x80, 0] + Array("free".utf8) + Array(repeating: 0, count: 40_000)
        await #expect(throws: DiskError.self) {
            _ = try await ImageFile.read(length: bytes.count, mustBeWhole: true) { range in
                guard range.lowerBound == 0 else { throw DiskError() }
                return Array(bytes[range])
            }
        }
    }
}
