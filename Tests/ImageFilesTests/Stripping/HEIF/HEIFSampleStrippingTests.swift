import Testing

@testable import ImageFiles

@Suite("HEIC and AVIF of other programs, stripped")
struct HEIFSampleStrippingTests {
    static let names = ImageFileTests.samples.keys.filter { $0.hasSuffix("heic") || $0.hasSuffix("avif") }.sorted()

    @Test("The stripped file has the same length, format and size", arguments: names)
    func sameImage(name: String) async throws {
        let bytes = try ImageFileTests.sample(name)
        let image = try await ImageFileTests.read(bytes, mustBeWhole: true)
        for windowBytes in [1, 64, 16 * 1024] {
            let stripped = try #require(try await HEIFStrip.strip(bytes, windowBytes: windowBytes))
            #expect(try await ImageFileTests.read(stripped, mustBeWhole: true) == image)
        }
    }

    @Test("A file without metadata stays as it is")
    func whole() async throws {
        let bytes = try ImageFileTests.sample("photo-64x48.heic")
        #expect(try await HEIFStrip.read(bytes)?.isWhole(ofLength: bytes.count) == true)
    }

    @Test(
        "No maker, name of a program or time is left",
        arguments: [
            ("turned-48x64.heic", ["Selfie"]), ("turned-48x64.avif", ["Selfie", "Color"]),
            ("photo-64x48.avif", ["Color"]), ("animated-64x48.avif", ["Color", "AOM Coding"]),
        ]
    )
    func metadata(name: String, words: [String]) async throws {
        let bytes = try ImageFileTests.sample(name)
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        for word in words where bytes.holds(word) { #expect(!stripped.holds(word), "\(word)") }
        // The time of making, in seconds from 1904.
        #expect(stripped.firstRange(of: [0xE7, 0x2A, 0x07, 0xC3]) == nil)
    }

    @Test("Exif is an empty TIFF header afterwards", arguments: ["turned-48x64.heic", "turned-48x64.avif"])
    func exif(name: String) async throws {
        let bytes = try ImageFileTests.sample(name)
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        let exif = try #require(bytes.firstRange(of: [0, 0, 0, 6] + Array("Exif\0\0MM".utf8))).lowerBound
        let header: [UInt8] = [0, 0, 0, 0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8]
        #expect(stripped[exif..<(exif + 12)].elementsEqual(header))
        #expect(stripped[(exif + 12)..<(exif + 44)].allSatisfy { $0 == 0 })
    }

    @Test("All bytes of pixels stay", arguments: names)
    func pixels(name: String) async throws {
        let bytes = try ImageFileTests.sample(name)
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        // Exif lies in front of the pixels in one sample, and behind them in the other.
        let data = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
        let exif = bytes.firstRange(of: [0, 0, 0, 6] + Array("Exif\0\0".utf8))?.lowerBound
        let pixels = exif == data ? (data + 44)..<bytes.count : data..<(exif ?? bytes.count)
        #expect(pixels.count > 70)
        #expect(stripped[pixels] == bytes[pixels])
    }

    @Test("A file that is cut off is refused within its boxes", arguments: names)
    func truncated(name: String) async throws {
        let whole = try ImageFileTests.sample(name)
        for count in 16..<whole.count {
            #expect(try await HEIFStrip.strip(Array(whole.prefix(count))) == nil, "\(count) of \(whole.count) bytes")
        }
    }

    @Test("Whatever a byte is changed to, the file is refused, or stripped for good", arguments: names)
    func damaged(name: String) async throws {
        try await damage(try ImageFileTests.sample(name))
    }

    @Test("The same holds for files with all that can be stripped")
    func damagedRich() async throws {
        try await damage(HEIFItemStrippingTests.phone.bytes, step: 5)
        try await damage(BuiltSequence().bytes, step: 5)
    }

    private func damage(_ whole: [UInt8], step: Int = 1) async throws {
        for offset in stride(from: 8, to: whole.count, by: step) {
            for value in [0, 0xFF] as [UInt8] where whole[offset] != value {
                var bytes = whole
                bytes[offset] = value
                // It throws when the stripped file is not whole.
                guard let stripped = try await HEIFStrip.strip(bytes) else { continue }
                let image = try await ImageFileTests.read(bytes)
                #expect(try await ImageFileTests.read(stripped) == image, "\(value) at \(offset)")
            }
        }
    }

    @Test("What reading throws is thrown on", arguments: names)
    func failure(name: String) async throws {
        struct DiskError: Error {}
        let bytes = try ImageFileTests.sample(name)
        for offset in stride(from: 64, to: 256, by: 16) {
            await #expect(throws: DiskError.self) {
                _ = try await StrippedImage.read(length: bytes.count, windowBytes: 1) { range in
                    guard range.lowerBound < offset else { throw DiskError() }
                    return Array(bytes[range])
                }
            }
        }
    }
}
