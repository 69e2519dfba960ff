import TestSupport
import Testing

@testable import ImageFiles

@Suite("PNGs without metadata")
struct PNGStrippingTests {
    /// A chunk: length, type, contents, checksum.
    private static func chunk(_ type: String, _ contents: [UInt8]) -> [UInt8] {
        let sum = PNGFile.checksum(of: (Array(type.utf8) + contents)[...])
        return contents.count.bigEndianBytes(4) + Array(type.utf8) + contents + sum.bigEndianBytes(4)
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// Signature and header of a gray PNG of 31 by 17 pixels.
    private static let start = signature + chunk("IHDR", [0, 0, 0, 31, 0, 0, 0, 17, 8, 0, 0, 0, 0])
    private static let pixels = chunk("IDAT", Array("pixels".utf8))
    private static let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]
    private static let clean = start + pixels + end
    private static func keptExif(_ orientation: UInt8) -> [UInt8] {
        [0, 0, 0, 26] + chunk("eXIf", TestExif.kept(orientation)).dropFirst(4)
    }
    private static func profile(_ name: String, bytes count: Int = 70_000) -> [UInt8] {
        chunk("iCCP", Array(name.utf8) + [0, 0] + (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31) })
    }

    @Test(
        "Photos of other programs have nothing to strip",
        arguments: ImageFileTests.samples.keys.filter { $0.hasSuffix(".png") }
    )
    func samples(name: String) async throws {
        let photo = try ImageFileTests.sample(name)
        #expect(try await Strip.bytes(photo) == photo)
    }

    @Test(
        "Chunks of metadata go, wherever they are, and what comes behind the end, too",
        arguments: ["eXIf", "tEXt", "zTXt", "iTXt", "tIME", "sPLT", "caBX", "vpAg", "zxIf", "iDOT", "abcd"]
    )
    func metadataGoes(type: String) async throws {
        let chunk = Self.chunk(type, Array("Comment\0".utf8) + Strip.secret)
        for photo in [
            Self.start + chunk + Self.pixels + Self.end, Self.start + Self.pixels + chunk + Self.end,
            Self.clean + chunk, Self.clean + Strip.secret, Self.start + chunk + chunk + Self.pixels + chunk + Self.end,
        ] {
            #expect(try await Strip.bytes(photo) == Self.clean)
        }
    }

    @Test("Colors, density and animation stay, and go when they are longer than they may be")
    func colorsStay() async throws {
        for (type, lengths, isNeeded) in [
            ("gAMA", 4...4, false), ("cHRM", 32...32, false), ("sRGB", 1...1, false), ("cICP", 4...4, false),
            ("mDCV", 24...24, false), ("cLLI", 8...8, false), ("sBIT", 1...4, false), ("bKGD", 1...6, false),
            ("hIST", 2...512, false), ("tRNS", 1...256, false), ("pHYs", 9...9, false), ("acTL", 8...8, true),
            ("fcTL", 26...26, true), ("PLTE", 0...768, true),
        ] {
            for count in [lengths.lowerBound, lengths.upperBound] {
                let photo = Self.start + Self.chunk(type, Array(repeating: 7, count: count)) + Self.pixels + Self.end
                #expect(try await Strip.bytes(photo) == photo, "\(type) of \(count)")
            }
            for count in [lengths.lowerBound - 1, lengths.upperBound + 1] where count >= 0 {
                let photo = Self.start + Self.chunk(type, Array(repeating: 7, count: count)) + Self.pixels + Self.end
                let image = try await Strip.read(photo)
                #expect(image?.apply(to: photo) == (isNeeded ? nil : Self.clean), "\(type) of \(count)")
            }
        }
        let frames = Self.chunk("fcTL", Array(repeating: 0, count: 26)) + Self.chunk("fdAT", [0, 0, 0, 1, 2, 3])
        let animated = Self.start + Self.pixels + Self.pixels + frames + frames + Self.end
        #expect(try await Strip.bytes(animated) == animated)
        #expect(try await !Strip.accepts(Self.start + Self.pixels + Self.chunk("fdAT", [0, 0, 1]) + Self.end))
        #expect(try await !Strip.accepts(Self.start + Self.chunk("PLTE", [1, 2]) + Self.pixels + Self.end))
    }

    @Test("The name of a profile becomes ICC, and its checksum the new one")
    func profileName() async throws {
        let kept = Self.start + Self.profile("ICC") + Self.pixels + Self.end
        for name in ["ICC", "Jane Roe", "SN-0815-4711", "x", String(repeating: "n", count: 79)] {
            #expect(try await Strip.bytes(Self.start + Self.profile(name) + Self.pixels + Self.end) == kept)
        }
    }

    @Test("A profile that decoders pass over goes")
    func brokenProfile() async throws {
        for name in ["Jane Roe", "ICC"] {
            var profile = Self.profile(name)
            profile[profile.count - 5] ^= 1
            #expect(try await Strip.bytes(Self.start + profile + Self.pixels + Self.end) == Self.clean)
        }
        for name in ["", String(repeating: "n", count: 80)] {
            let photo = Self.start + Self.profile(name) + Self.pixels + Self.end
            #expect(try await Strip.bytes(photo) == Self.clean)
        }
        #expect(try await Strip.bytes(Self.start + Self.chunk("iCCP", []) + Self.pixels + Self.end) == Self.clean)
    }

    @Test("A profile of more than 4 MiB is refused", .onDedicatedThreads, arguments: ["ICC", "Jane Roe"])
    func profileLimit(name: String) async throws {
        let count = 4 * 1024 * 1024 - name.utf8.count - 2
        let largest = Self.start + Self.profile(name, bytes: count) + Self.pixels + Self.end
        let kept = Self.start + Self.profile("ICC", bytes: count) + Self.pixels + Self.end
        let image = try await Strip.read(largest)
        #expect(image?.apply(to: largest) == kept)
        #expect(try await !Strip.accepts(Self.start + Self.profile(name, bytes: count + 1) + Self.pixels + Self.end))
    }

    @Test("The orientation stays, behind the header", arguments: 0...9 as ClosedRange<UInt8>)
    func orientation(orientation: UInt8) async throws {
        let kept = (2...8).contains(orientation) ? Self.keptExif(orientation) : []
        for isBigEndian in [true, false] {
            let tiff = TestExif.tiff(Int(orientation), isBigEndian: isBigEndian)
            let gamma = Self.chunk("gAMA", [0, 1, 0x86, 0xA0])
            for contents in [tiff, Array("Exif\0\0".utf8) + tiff, tiff + Array(repeating: 0, count: 70_000)] {
                let exif = Self.chunk("eXIf", contents)
                let expected = Self.start + kept + gamma + Self.pixels + Self.end
                for photo in [
                    exif + gamma + Self.pixels, gamma + exif + Self.pixels, gamma + Self.pixels + exif,
                    // Of several, the first counts.
                    exif + gamma + Self.pixels + Self.chunk("eXIf", TestExif.tiff(4)),
                ] {
                    #expect(try await Strip.bytes(Self.start + photo + Self.end) == expected)
                }
            }
        }
    }

    @Test(
        "A photo that breaks the format is refused",
        arguments: [
            pixels + chunk("tEXt", []) + pixels + end, pixels + chunk("gAMA", [0, 0, 0, 1]) + pixels + end,
            chunk("IHDR", [0, 0, 0, 31, 0, 0, 0, 17, 8, 0, 0, 0, 0]) + pixels + end, chunk("CgBI", []) + pixels + end,
            chunk("ABCD", []) + pixels + end, chunk("t@xt", []) + pixels + end, chunk("t[xt", []) + pixels + end,
            chunk("te`t", []) + pixels + end, chunk("te{t", []) + pixels + end, chunk("t x1", []) + pixels + end,
            [0x80, 0, 0, 0] + Array("tEXt".utf8), [0x7F, 0xFF, 0xFF, 0xFF] + Array("tEXt".utf8) + end,
            pixels + chunk("IEND", [0]) + end, pixels + end.dropLast() + [0x83], pixels, [],
        ] as [[UInt8]]
    )
    func refused(rest: [UInt8]) async throws {
        #expect(try await Strip.accepts(Self.clean))
        #expect(try await !Strip.accepts(Self.start + rest))
    }

    @Test("More than 8,192 pieces are refused")
    func pieces() async throws {
        // A piece begins at each chunk that stays behind one that goes.
        let pair = Self.chunk("tEXt", []) + Self.chunk("fdAT", [0, 0, 0, 1])
        for (count, isAccepted) in [(8_190, true), (8_191, true), (8_192, false)] {
            let rest = Array(repeating: pair, count: count).joined() + Self.pixels + Self.end
            #expect(try await Strip.accepts(Self.start + rest) == isAccepted, "\(count)")
        }
    }

    @Test("A photo of 262,144 chunks is stripped, as one of 2 GiB in chunks of 8 KiB is", .onDedicatedThreads)
    func manyChunks() async throws {
        let chunks = Array(Array(repeating: Self.chunk("IDAT", []), count: 262_144).joined())
        let photo = Self.start + chunks + Self.end
        let image = try await Strip.read(photo + Strip.secret)
        #expect(image?.pieces == [.file(0..<photo.count)])
    }
}
