import Testing

@testable import ImageFiles

@Suite("JPEGs without metadata")
struct JPEGStrippingTests {
    private static let start: [UInt8] = [0xFF, 0xD8]
    private static let end: [UInt8] = [0xFF, 0xD9]

    /// A segment: marker, length, contents.
    private static func segment(_ code: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [0xFF, code] + (2 + contents.count).bigEndianBytes(2) + contents
    }

    private static func segment(_ code: UInt8, _ name: String, _ contents: [UInt8] = Strip.secret) -> [UInt8] {
        segment(code, Array(name.utf8) + contents)
    }

    private static let jfif = segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 0, 0])
    private static let profile = segment(0xE2, "ICC_PROFILE\0", [1, 1] + Array("a profile".utf8))
    private static let adobe = segment(0xEE, "Adobe", [0, 100, 0, 0, 0, 0, 2])
    private static func exif(_ orientation: Int, isBigEndian: Bool = true) -> [UInt8] {
        segment(0xE1, "Exif\0\0", TestExif.tiff(orientation, isBigEndian: isBigEndian))
    }
    private static func keptExif(_ orientation: UInt8) -> [UInt8] {
        [0xFF, 0xE1, 0, 34] + Array("Exif\0\0".utf8) + TestExif.kept(orientation)
    }

    /// A frame of one component and pixels, which no decoder has to like.
    private static let frame = segment(0xC0, [8, 0, 17, 0, 31, 1, 1, 0x11, 0])
    private static let scan = segment(0xDA, [1, 1, 0, 0, 63, 0]) + [1, 0xFF, 0, 2, 0xFF, 0xD0, 3, 0xFF, 0xD7, 4]
    private static let rest = frame + scan + end

    /// Segments with secrets.
    private static let metadata: [[UInt8]] =
        ((0xE0...0xEF) + [0xFE] as [UInt8]).map { segment($0, "a name\0") } + [
            exif(1), segment(0xE1, "http://ns.adobe.com/xap/1.0/\0"),
            segment(0xE1, "http://ns.adobe.com/xmp/extension/\0"),
            segment(0xE2, "MPF\0"), segment(0xE2, "urn:iso:std:iso:ts:21496:-1\0"), segment(0xE2, "ICC_PROFILE "),
            segment(0xED, "Photoshop 3.0\0"), segment(0xE0, "JFXX\0"), segment(0xEE, "Adobe_CM\0", []),
            segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 0]), segment(0xEE, "Adobe", [0, 100, 0, 0, 0, 0]),
        ]

    @Test(
        "Photos of other programs keep all of their pixels",
        arguments: ImageFileTests.samples.keys.filter { $0.hasSuffix(".jpg") }
    )
    func samples(name: String) async throws {
        let photo = try ImageFileTests.sample(name)
        let stripped = try await Strip.bytes(photo)
        let exif = try #require(photo.firstRange(of: [0xFF, 0xDB])).lowerBound
        let (before, after) = (photo[exif...], stripped.suffix(photo.count - exif))
        #expect(Array(before) == Array(after))
        #expect((stripped == photo) == !(name.hasPrefix("turned") || name.hasPrefix("mirrored")))
        #expect(stripped.firstRange(of: Array("Selfie".utf8)) == nil)
    }

    @Test("Segments of metadata go, wherever they are, and what comes behind the end, too")
    func metadataGoes() async throws {
        for segment in Self.metadata {
            let clean = Self.start + Self.rest
            for photo in [
                Self.start + segment + Self.rest, Self.start + Self.frame + segment + Self.scan + Self.end,
                Self.start + Self.frame + Self.scan + segment + Self.end, clean + Strip.secret,
                clean + segment, clean + Self.start + segment + Self.rest,
                Self.start + [0xFF, 0xFF] + segment + Self.rest,
            ] {
                #expect(try await Strip.bytes(photo) == clean, "\(segment.prefix(8))")
            }
        }
    }

    @Test("Colors and densities stay in front of the first scan, and go behind it")
    func colorsStay() async throws {
        let header = Self.start + Self.jfif + Self.profile + Self.profile + Self.adobe
        #expect(try await Strip.bytes(header + Self.rest) == header + Self.rest)
        let between = Self.jfif + Self.profile + Self.adobe
        let photo = header + Self.frame + Self.scan + between + Self.scan + Self.end
        #expect(try await Strip.bytes(photo) == header + Self.frame + Self.scan + Self.scan + Self.end)
    }

    @Test("The header of JFIF loses its thumbnail, and Adobe's segment what follows its 14 bytes")
    func cut() async throws {
        let thumbnail = Self.segment(0xE0, "JFIF\0", [1, 2, 1, 0, 72, 0, 72, 1, 1] + Strip.secret)
        let kept = Self.segment(0xE0, "JFIF\0", [1, 2, 1, 0, 72, 0, 72, 0, 0])
        #expect(try await Strip.bytes(Self.start + thumbnail + Self.rest) == Self.start + kept + Self.rest)
        let sizeOnly = Self.segment(0xE0, "JFIF\0", [1, 2, 1, 0, 72, 0, 72, 0, 1])
        #expect(try await Strip.bytes(Self.start + sizeOnly + Self.rest) == Self.start + kept + Self.rest)
        let adobe = Self.segment(0xEE, "Adobe", [0, 100, 0, 0, 0, 0, 2] + Strip.secret)
        #expect(try await Strip.bytes(Self.start + adobe + Self.rest) == Self.start + Self.adobe + Self.rest)
    }

    @Test("The orientation stays, behind the header of JFIF or first", arguments: 0...9 as ClosedRange<UInt8>)
    func orientation(orientation: UInt8) async throws {
        let kept = (2...8).contains(orientation) ? Self.keptExif(orientation) : []
        for isBigEndian in [true, false] {
            let exif = Self.exif(Int(orientation), isBigEndian: isBigEndian)
            for (photo, expected) in [
                (exif, kept), (exif + Self.jfif, Self.jfif + kept), (Self.jfif + exif, Self.jfif + kept),
                (Self.adobe + Self.jfif + Self.profile + exif, Self.adobe + Self.jfif + kept + Self.profile),
                (Self.profile + exif + Self.adobe, kept + Self.profile + Self.adobe),
                (Self.jfif + Self.jfif + exif, Self.jfif + kept + Self.jfif),
            ] {
                let stripped = try await Strip.bytes(Self.start + photo + Self.rest)
                #expect(stripped == Self.start + expected + Self.rest)
            }
        }
    }

    @Test("Of several blocks of Exif, the first counts")
    func firstExif() async throws {
        let kept = Self.start + Self.keptExif(3) + Self.rest
        #expect(try await Strip.bytes(Self.start + Self.exif(3) + Self.exif(6) + Self.rest) == kept)
        let upright = Self.start + Self.exif(1) + Self.exif(6) + Self.rest
        #expect(try await Strip.bytes(upright) == Self.start + Self.rest)
        let late = Self.start + Self.frame + Self.scan + Self.exif(6) + Self.end
        #expect(try await Strip.bytes(late) == Self.start + Self.rest)
    }

    @Test("Scans and the tables between them stay, and so do bytes 0xFF among the pixels")
    func scans() async throws {
        let tables = Self.segment(0xC4, [0, 1]) + Self.segment(0xDD, [0, 4]) + Self.segment(0xDC, [0, 17])
        let more = Self.segment(0xDB, [0]) + Self.segment(0xCC, [0, 1]) + Self.segment(0xDF, [0x11])
        for fill in [[], [0xFF], [0xFF, 0xFF, 0xFF, 0, 1, 0xFF, 0xFF, 0xD1, 0xFF]] as [[UInt8]] {
            let photo =
                Self.start + tables + more + Self.frame + Self.scan + fill + tables + Self.scan + fill + more + Self.end
            #expect(try await Strip.bytes(photo) == photo)
        }
    }

    @Test("A marker is found wherever it lies in windows of 64 KiB")
    func windows() async throws {
        let head = Self.start + Self.frame + Self.scan
        // The first window has 16 KiB.
        for edge in [16 * 1024, 80 * 1024, 144 * 1024] {
            for offset in (edge - 4)...(edge + 3) {
                for filler in [0x7F, 0xFF] as [UInt8] {
                    let photo = head + Array(repeating: filler, count: offset - head.count) + Self.end
                    let image = try await Strip.read(photo + Strip.secret)
                    #expect(image?.pieces == [.file(0..<photo.count)], "\(offset), \(filler)")
                    #expect(try await !Strip.accepts(photo.dropLast()), "\(offset), \(filler)")
                }
            }
        }
    }

    @Test("Pixels are read once, 64 KiB at a time, however many scans there are")
    func readsOnce() async throws {
        let restarts = Array(Array(repeating: [0xFF, 0xD3, 0xFF, 0, 7] as [UInt8], count: 40_000).joined())
        let scans = Array(Array(repeating: Self.scan, count: 10_000).joined())
        for pixels in [restarts, scans] {
            let photo = Self.start + Self.frame + Self.scan + pixels + Self.end
            var asked: [Int] = []
            let image = try await StrippedImage.read(length: photo.count) { range in
                asked.append(range.count)
                return Array(photo[range])
            }
            #expect(image?.isWhole(ofLength: photo.count) == true)
            #expect(asked.allSatisfy { $0 <= 65_536 })
            #expect(asked.reduce(0, +) < photo.count * 3 / 2)
        }
    }

    @Test("A file that takes more than 1,048,576 steps is refused")
    func steps() async throws {
        // Each byte 0xFF in front of a marker takes one.
        let head = Self.start + Self.frame + Self.scan + Self.segment(0xFE, [])
        for (count, isAccepted) in [(1_048_555, true), (1_048_556, false)] {
            let photo = head + Array(repeating: 0xFF, count: count) + Self.end
            #expect(try await Strip.accepts(photo) == isAccepted, "\(count)")
        }
    }

    @Test(
        "A photo that breaks the format is refused",
        arguments: [
            frame + frame + scan + end, frame + scan + frame + scan + end, scan + end, frame + end,
            frame + [0x20] + scan + end, [0x20] + frame + scan + end, frame + scan + segment(0xFE, []) + [0x20] + end,
            frame + start + scan + end, frame + [0xFF, 0x01] + scan + end, frame + [0xFF, 0xD0] + scan + end,
            frame + scan + [0xFF, 0x01] + end, frame + scan + [0xFF, 0xFE, 0, 1] + end,
            frame + segment(0xDD, [0, 1, 2]) + scan + end, frame + segment(0xDC, [0]) + scan + end,
            frame + segment(0xDA, [1, 1, 0, 0, 63, 0, 0]) + end, frame + segment(0xDA, [0, 0, 63, 0]) + end,
            frame + segment(0xDA, [5] + Array(repeating: 0, count: 13)) + end,
            segment(0xC0, [8, 0, 0, 0, 31, 1, 1, 0x11, 0]) + scan + end,
            // What is reserved, and JPEG-LS.
            frame + segment(0x02, secret) + scan + end, frame + segment(0xF0, secret) + scan + end,
            frame + segment(0xC8, secret) + scan + end, segment(0xF7, [8, 0, 17, 0, 31, 1, 1, 0x11, 0]) + scan + end,
        ] as [[UInt8]]
    )
    func refused(rest: [UInt8]) async throws {
        #expect(try await Strip.accepts(Self.start + Self.rest))
        #expect(try await !Strip.accepts(Self.start + rest))
    }

    private static let secret = Strip.secret
}
