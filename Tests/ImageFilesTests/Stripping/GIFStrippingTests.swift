import TestSupport
import Testing

@testable import ImageFiles

@Suite("GIFs without metadata")
struct GIFStrippingTests {
    /// The screen of 31 by 17 pixels, with two colors.
    private static let start = Array("GIF89a".utf8) + [31, 0, 17, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    /// A picture with four colors of its own, and blocks of 3 and 255 bytes.
    private static let picture: [UInt8] =
        [0x2C, 0, 0, 0, 0, 31, 0, 17, 0, 0x81] + Array(repeating: 9, count: 12) + [2, 3, 1, 2, 3, 255]
        + Array(repeating: 0x21, count: 255) + [0]
    private static let plainPicture: [UInt8] = [0x2C, 0, 0, 0, 0, 31, 0, 17, 0, 0, 2, 1, 0x44, 0]
    private static let end: [UInt8] = [0x3B]
    private static let control: [UInt8] = [0x21, 0xF9, 4, 5, 10, 0, 1, 0]
    private static let otherControl: [UInt8] = [0x21, 0xF9, 4, 1, 20, 0, 0, 0]
    private static let clean = start + picture + end

    private static func blocks(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes + [0] }
    private static func application(_ name: String, _ blocks: [UInt8]) -> [UInt8] {
        [0x21, 0xFF, UInt8(name.utf8.count)] + Array(name.utf8) + blocks
    }
    private static let comment = [0x21, 0xFE] + blocks(Strip.secret)
    private static let text = [0x21, 0x01, 12] + Array(repeating: 1, count: 12) + blocks(Strip.secret)
    private static let loop = application("NETSCAPE2.0", [3, 1, 7, 0, 0])

    @Test(
        "Photos of other programs keep their pictures, and lose their comments",
        arguments: ImageFileTests.samples.keys.filter { $0.hasSuffix(".gif") }
    )
    func samples(name: String) async throws {
        let photo = try ImageFileTests.sample(name)
        let stripped = try await Strip.bytes(photo)
        var expected = photo
        if let comment = photo.firstRange(of: [0x21, 0xFE, 0xFF, 0x61]) {
            let end = try #require(photo[comment.lowerBound...].firstIndex(of: 0))
            expected.removeSubrange(comment.lowerBound...end)
        }
        #expect(stripped == expected)
    }

    @Test("Comments, texts and unknown extensions go, wherever they are, and what comes behind the end, too")
    func metadataGoes() async throws {
        for block in [
            Self.comment, Self.text, Self.application("XMP DataXMP", Self.blocks(Strip.secret)),
            Self.application("MGK8BIM0000", Self.blocks(Strip.secret)), [0x21, 0xCE] + Self.blocks(Strip.secret),
            Self.application("NETSCAPE2.", Self.blocks(Strip.secret)), Self.application("NETSCAPE2.00", [0]),
            [0x21, 0xFF] + Self.blocks(Strip.secret), [0x21, 0xFF, 0], [0x21, 0x00, 0],
            Self.application("NETSCAPE2.0", Self.blocks(Strip.secret)),
            Self.application("ANIMEXTS1.0", [3, 1, 0, 0, 5, 2, 0, 0, 0, 0, 1, 9, 0]),
        ] {
            for photo in [
                Self.start + block + Self.picture + Self.end, Self.start + Self.picture + block + Self.end,
                Self.clean + block, Self.clean + Strip.secret,
                Self.start + block + block + Self.picture + block + Self.end,
            ] {
                #expect(try await Strip.bytes(photo) == Self.clean, "\(block)")
            }
        }
    }

    @Test("The loop count, timing and the profile stay")
    func controlsStay() async throws {
        let profile = Self.application("ICCRGBG1012", [255] + Array(repeating: 1, count: 255) + [1, 2, 0])
        let buffered = Self.application("ANIMEXTS1.0", [3, 1, 7, 0, 5, 2, 0, 0, 0, 0, 0])
        let photo =
            Self.start + Self.loop + buffered + profile + Self.control + Self.picture + Self.otherControl + Self.control
            + Self.loop + Self.plainPicture + Self.control + Self.end
        #expect(try await Strip.bytes(photo) == photo)
        let comments =
            Self.start + Self.comment + Self.loop + buffered + Self.comment + profile + Self.control + Self.comment
            + Self.picture + Self.comment + Self.otherControl + Self.control + Self.loop + Self.comment
            + Self.plainPicture + Self.control + Self.end
        #expect(try await Strip.bytes(comments) == photo)
    }

    @Test("Text goes, and its graphic control stays: decoders apply it to the next picture")
    func texts() async throws {
        for (before, after) in [
            (Self.control + Self.text + Self.picture, Self.control + Self.picture),
            (Self.text + Self.control + Self.picture + Self.text, Self.control + Self.picture),
            (
                Self.control + Self.comment + Self.text + Self.loop + Self.picture,
                Self.control + Self.loop + Self.picture
            ),
        ] {
            #expect(try await Strip.bytes(Self.start + before + Self.end) == Self.start + after + Self.end)
        }
    }

    @Test("A file may end behind its first picture's descriptor, and within an extension, which goes then")
    func truncated() async throws {
        let head = Self.start + Self.loop
        let photo = head + Self.picture + Self.control + Self.plainPicture
        for count in 0...photo.count {
            let cut = Array(photo.prefix(count))
            guard count >= head.count + 10 else {
                #expect(try await !Strip.accepts(cut), "\(count)")
                continue
            }
            let controlAt = head.count + Self.picture.count
            let isCutControl = (controlAt..<(controlAt + 8)).contains(count)
            #expect(try await Strip.bytes(cut) == (isCutControl ? Array(photo.prefix(controlAt)) : cut), "\(count)")
        }
        for count in 1..<Self.comment.count {
            let stripped = try await Strip.bytes(Self.start + Self.picture + Self.comment.prefix(count))
            #expect(stripped == Self.start + Self.picture)
        }
        let control = Self.start + Self.picture + Self.control + Self.text.dropLast()
        #expect(try await Strip.bytes(control) == Self.start + Self.picture + Self.control)
    }

    @Test(
        "A photo that breaks the format is refused",
        arguments: [
            end, [], loop + end, [0x20] + picture + end, picture + [0] + end, picture + [0x20], comment,
            [0x2C, 0, 0, 0, 0, 0, 0, 17, 0, 0, 2, 0] + end, [0x21, 0xF9, 5, 1, 2, 3, 4, 5, 0] + picture + end,
            [0x21, 0xF9, 3, 1, 2, 3, 0] + picture + end, [0x21, 0xF9, 2, 1, 2, 1, 3, 0] + picture + end,
            [0x21, 0xF9, 0] + picture + end, [0x21, 0xF9, 4, 1, 2, 3, 4, 1, 2, 0] + picture + end,
        ] as [[UInt8]]
    )
    func refused(rest: [UInt8]) async throws {
        #expect(try await Strip.accepts(Self.clean))
        #expect(try await !Strip.accepts(Self.start + rest))
    }

    @Test("A photo of 100,000 pictures is stripped", .onDedicatedThreads)
    func manyPictures() async throws {
        let pictures = Array(Array(repeating: Self.control + Self.plainPicture, count: 100_000).joined())
        let photo = Self.start + pictures + Self.end
        let image = try await Strip.read(photo + Strip.secret)
        #expect(image?.pieces == [.file(0..<photo.count)])
    }

    @Test("A picture of 20,000 blocks takes few steps, wherever they lie in windows of 64 KiB", .onDedicatedThreads)
    func manyBlocks() async throws {
        let head = Self.start + Self.plainPicture.prefix(11)
        for length in [1, 2, 254, 255] {
            let block = [UInt8(length)] + Array(repeating: 0, count: length)
            let photo = head + Array(repeating: block, count: 20_000).joined() + [0] + Self.end
            let longer = photo + Strip.secret
            var readCount = 0
            let image = try await StrippedImage.read(length: longer.count) { range in
                readCount += 1
                return Array(longer[range])
            }
            #expect(image?.pieces == [.file(0..<photo.count)])
            #expect(readCount < photo.count / 60_000 + 5)
        }
    }
}
