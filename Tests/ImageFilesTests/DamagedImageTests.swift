import Testing

@testable import ImageFiles

@Suite("Damaged images")
struct DamagedImageTests {
    /// A change of a sample that leaves no photo.
    struct Damage: CustomTestStringConvertible {
        let testDescription: String
        let sample: String
        let change: @Sendable (inout [UInt8]) -> Void

        init(_ name: String, _ sample: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void) {
            testDescription = name
            self.sample = sample
            self.change = change
        }
    }

    private static let jpeg = "baseline-31x17.jpg"
    private static let png = "rgb-31x17.png"
    private static let gif = "still-31x17.gif"
    private static let heic = "photo-64x48.heic"
    private static let avif = "photo-64x48.avif"

    private static let damages = [
        Damage("JPEG of no lines", jpeg) { $0.write([0, 0], after: [0xFF, 0xC0], 3) },
        Damage("JPEG of no columns", jpeg) { $0.write([0, 0], after: [0xFF, 0xC0], 5) },
        Damage("JPEG of no components", jpeg) { $0.write([0], after: [0xFF, 0xC0], 7) },
        Damage("JPEG of five components", jpeg) { $0.write([0, 23, 8, 0, 17, 0, 31, 5], after: [0xFF, 0xC0], 0) },
        Damage("JPEG whose frame has another length", jpeg) { $0.write([0, 18], after: [0xFF, 0xC0], 0) },
        Damage("JPEG of samples with one bit", jpeg) { $0.write([1], after: [0xFF, 0xC0], 2) },
        Damage("JPEG with pixels before its frame", jpeg) { $0.write([0xDA], after: [0xFF], 2) },
        Damage("JPEG that ends at once", jpeg) { $0.write([0xD9], after: [0xFF], 2) },
        Damage("JPEG in a JPEG", jpeg) { $0.write([0xD8], after: [0xFF], 2) },
        Damage("JPEG with a segment of one byte", jpeg) { $0.write([0, 1], after: [0xFF, 0xE0], 0) },
        Damage("JPEG without a marker", jpeg) { $0.write([0x20], after: [0xFF, 0xE0], 16) },
        Damage("JPEG with a Huffman table for a frame", jpeg) { $0.write([0xC4], after: [0xFF, 0xC0], -1) },
        Damage("PNG of no columns", png) { $0.writeHeader([0, 0, 0, 0], at: 16) },
        Damage("PNG of no lines", png) { $0.writeHeader([0, 0, 0, 0], at: 20) },
        Damage("PNG of too many lines", png) { $0.writeHeader([0x80, 0, 0, 0], at: 20) },
        Damage("PNG with colors of three bits", png) { $0.writeHeader([3], at: 24) },
        Damage("PNG with another kind of color", png) { $0.writeHeader([5], at: 25) },
        Damage("PNG with another compression", png) { $0.writeHeader([1], at: 26) },
        Damage("PNG with another filter", png) { $0.writeHeader([1], at: 27) },
        Damage("PNG with another interlacing", png) { $0.writeHeader([2], at: 28) },
        Damage("PNG with another checksum", png) { $0[32] ^= 1 },
        Damage("PNG with another first chunk", png) { $0[12] = 0x4A },
        Damage("PNG with a longer header", png) { $0[11] = 14 },
        Damage("GIF of no columns", gif) { $0.replaceSubrange(6..<8, with: [0, 0]) },
        Damage("GIF of no lines", gif) { $0.replaceSubrange(8..<10, with: [0, 0]) },
        Damage("GIF without a picture", gif) { $0.write([0x3B], after: [0x2C, 0, 0, 0, 0], -5) },
        Damage("GIF whose picture has no columns", gif) { $0.write([0, 0], after: [0x2C, 0, 0, 0, 0], 0) },
        Damage("WebP of another kind", "lossy-31x17.webp") { $0[15] = 0x5A },
        Damage("WebP that begins between key frames", "lossy-31x17.webp") { $0[20] |= 1 },
        Damage("WebP with another start code", "lossy-31x17.webp") { $0[23] = 0 },
        Damage("WebP of no columns", "lossy-31x17.webp") { $0.replaceSubrange(26..<28, with: [0, 0xC0]) },
        Damage("WebP whose first chunk is too short", "lossy-31x17.webp") { $0[16] = 9 },
        Damage("lossless WebP with another signature", "lossless-31x17.webp") { $0[20] = 0x2E },
        Damage("lossless WebP of another version", "lossless-31x17.webp") { $0[24] |= 0x20 },
        Damage("HEIC without a primary item", heic) { $0.write(Array("free".utf8), after: Array("pitm".utf8), -4) },
        Damage("HEIC with another primary item", heic) { $0.write([9], after: Array("pitm".utf8), 5) },
        Damage("HEIC that is no picture", heic) { $0.write(Array("vide".utf8), after: Array("hdlr".utf8), 8) },
        Damage("HEIC without a size", avif) { $0.write(Array("free".utf8), after: Array("ispe".utf8), -4) },
        Damage("HEIC of no columns", heic) { $0.write([0, 0, 0, 0], after: Array("ispe".utf8), 4) },
        Damage("HEIC cut to nothing", heic) { $0.write([0, 0, 0, 0], after: Array("clap".utf8), 0) },
        Damage("HEIC cut to parts of nothing", heic) { $0.write([0, 0, 0, 0], after: Array("clap".utf8), 4) },
        Damage("HEIC without its list", heic) { $0.write(Array("free".utf8), after: Array("meta".utf8), -4) },
        Damage("HEIC with a box beyond its end", heic) { $0.write([1], after: Array("ispe".utf8), -8) },
        Damage("HEIC with a box that has no room for its head", heic) {
            $0.write([0, 0, 0, 7], after: Array("hvcC".utf8), -8)
        },
        Damage("HEIC that says it has more properties", heic) { $0.write([0xFF], after: Array("ipma".utf8), 10) },
    ]

    @Test("Damage in front of the size leaves no photo", arguments: damages)
    func damaged(damage: Damage) async throws {
        var bytes = try ImageFileTests.sample(damage.sample)
        let image = try await ImageFileTests.read(bytes)
        #expect(image != nil)
        let before = bytes
        damage.change(&bytes)
        #expect(bytes != before)
        let damaged = try await ImageFileTests.read(bytes)
        #expect(damaged == nil)
    }

    @Test(
        "Damaged metadata of a camera says nothing, and the photo stays one",
        arguments: [
            (6, [0x58, 0x58]), (10, [0xFF, 0xFF, 0xFF, 0xFF]), (10, [0, 0, 0xFF, 0xFF]), (14, [0xFF, 0xFF]),
            (0, [0x65]), (8, [0, 43]), (32, [0, 0, 0, 2]),
        ] as [(Int, [UInt8])]
    )
    func exif(offset: Int, bytes: [UInt8]) async throws {
        var photo = try ImageFileTests.sample("turned-17x31.jpg")
        photo.write(bytes, after: [0xFF, 0xE1], 2 + offset)
        let size = try await ImageFileTests.read(photo)?.size
        let (unturned, turned) = (try ImageSize(width: 31, height: 17), try ImageSize(width: 17, height: 31))
        // A directory that claims too many entries is read as far as it goes.
        #expect(size == (offset == 14 ? turned : unturned))
    }

    @Test("The orientations that lie on a side exchange width and height", arguments: 0...9 as ClosedRange<UInt8>)
    func orientations(orientation: UInt8) async throws {
        var photo = try ImageFileTests.sample("turned-17x31.jpg")
        let value = try #require(photo.firstRange(of: [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6])).upperBound - 1
        photo[value] = orientation
        let size = try await ImageFileTests.read(photo)?.size
        let isTurned = [5, 6, 7, 8].contains(orientation)
        #expect(size == (isTurned ? try ImageSize(width: 17, height: 31) : try ImageSize(width: 31, height: 17)))
    }

    @Test("Boxes may have long lengths, or reach to the end")
    func boxLengths() async throws {
        let photo = try ImageFileTests.sample("photo-64x48.avif")
        let meta = try #require(photo.firstRange(of: Array("meta".utf8))).lowerBound - 4
        let length = photo[meta..<(meta + 4)].bigEndian(at: 0, count: 4)
        let contents = Array(photo[(meta + 8)..<(meta + length)])
        let kind = Array("meta".utf8)
        let size = try ImageSize(width: 64, height: 48)
        for (head, expected) in [
            ([0, 0, 0, 1] + kind + [0, 0, 0, 0, 0, 0, 0, UInt8(16 + contents.count)], size),
            ([0, 0, 0, 0] + kind, size),
            ([0, 0, 0, 1] + kind + [0x80, 0, 0, 0, 0, 0, 0, UInt8(16 + contents.count)], nil),
            ([0, 0, 0, 1] + kind + [0, 0, 0, 0, 0, 0, 0, 15], nil),
        ] as [([UInt8], ImageSize?)] {
            let image = try await ImageFileTests.read(photo[..<meta] + head + contents)
            #expect(image?.size == expected)
        }
    }

    @Test(
        "A file that lists more than 16,384 properties of items, or as many items, is no photo",
        arguments: [(1, 16_381), (1, 16_382), (255, 64), (255, 65)]
    )
    func uses(each: Int, count: Int) async throws {
        // The box of associations anew: the primary item with its own three numbers, and others.
        var photo = try ImageFileTests.sample("photo-64x48.avif")
        let box = try #require(photo.firstRange(of: Array("ipma".utf8))).lowerBound - 4
        let old = Array(photo[(box + 16)..<(box + photo[box..<(box + 4)].bigEndian(at: 0, count: 4))])
        let ownCount = Int(old[2])
        let item: [UInt8] = each == 1 ? [0, 9, 0] : [0, 1, UInt8(each)] + Array(repeating: 0x7F, count: each)
        let contents = [0, 0, 0, 0] + Self.number(count + 1) + old + Array(repeating: item, count: count).joined()
        let added = 8 + contents.count - (16 + old.count)
        let head: [UInt8] = Self.number(8 + contents.count) + Array("ipma".utf8)
        photo.replaceSubrange(box..<(box + 16 + old.count), with: head + contents)
        for kind in ["iprp", "meta"] {
            let start = try #require(photo.firstRange(of: Array(kind.utf8))).lowerBound - 4
            let length = photo[start..<(start + 4)].bigEndian(at: 0, count: 4)
            photo.replaceSubrange(start..<(start + 4), with: Self.number(length + added))
        }
        let image = try await ImageFileTests.read(photo)
        #expect((image != nil) == (ownCount + count * each <= 16_384))
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    @Test("A frame alone is no photo", arguments: [[], [0x00], [0xFF, 0xD9], [0xFF, 0xDA]] as [[UInt8]])
    func frameAlone(rest: [UInt8]) async throws {
        let frame: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]
        let image = try await ImageFileTests.read(frame + rest)
        #expect((image != nil) == (rest == [0xFF, 0xDA]))
    }

    @Test("A series of pictures without a single one has the size of its first track")
    func series() async throws {
        var photo = try ImageFileTests.sample("animated-64x48.avif")
        photo.write(Array("free".utf8), after: Array("meta".utf8), -4)
        let image = try await ImageFileTests.read(photo)
        #expect(image?.size == (try ImageSize(width: 64, height: 48)))
        photo.write(Array("free".utf8), after: Array("tkhd".utf8), -4)
        let damaged = try await ImageFileTests.read(photo)
        #expect(damaged == nil)
    }
}

extension [UInt8] {
    /// Overwrites bytes at a distance from where a pattern first ends.
    fileprivate mutating func write(_ bytes: [UInt8], after pattern: [UInt8], _ distance: Int) {
        guard let range = firstRange(of: pattern) else { return }
        let start = range.upperBound + distance
        replaceSubrange(start..<(start + bytes.count), with: bytes)
    }

    /// Overwrites a part of a PNG's header, and its checksum.
    fileprivate mutating func writeHeader(_ bytes: [UInt8], at offset: Int) {
        replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        let sum = UInt32(PNGFile.checksum(of: self[12..<29]))
        replaceSubrange(29..<33, with: Swift.withUnsafeBytes(of: sum.bigEndian, Array.init))
    }
}
