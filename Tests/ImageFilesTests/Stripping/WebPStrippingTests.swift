import Testing

@testable import ImageFiles

@Suite("WebPs without metadata")
struct WebPStrippingTests {
    /// A chunk: type, length, contents, a byte 0 behind an odd length.
    private static func chunk(_ type: String, _ contents: [UInt8], padding: UInt8 = 0) -> [UInt8] {
        let padded = contents.count % 2 == 1 ? contents + [padding] : contents
        return Array(type.utf8) + contents.count.littleEndianBytes(4) + padded
    }
    private static func file(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + (4 + chunks.count).littleEndianBytes(4) + Array("WEBP".utf8) + chunks
    }
    private static func header(_ flags: UInt8, reserved: UInt8 = 0) -> [UInt8] {
        chunk("VP8X", [flags, reserved, reserved, reserved, 30, 0, 0, 16, 0, 0])
    }

    private static let secret = chunk("what", Strip.secret)
    private static let lossy = chunk("VP8 ", [0, 0, 0, 0x9D, 1, 0x2A, 31, 0, 17, 0, 1, 2, 3])
    private static let lossless = chunk("VP8L", [0x2F, 0x1E, 0x00, 0x04, 0x00, 7])
    private static let alpha = chunk("ALPH", [1, 2, 3])
    private static let profile = chunk("ICCP", Array("a profile".utf8))
    private static let loop = chunk("ANIM", [0, 0, 0, 0, 7, 0])
    private static func frame(_ chunks: [UInt8], flags: UInt8 = 3) -> [UInt8] {
        chunk("ANMF", [0, 0, 0, 0, 0, 0, 30, 0, 0, 16, 0, 0, 100, 0, 0, flags] + chunks)
    }
    private static func exif(_ orientation: Int, isBigEndian: Bool = true) -> [UInt8] {
        chunk("EXIF", TestExif.tiff(orientation, isBigEndian: isBigEndian))
    }
    private static let xmp = chunk("XMP ", Strip.secret)

    @Test(
        "Photos of other programs have nothing to strip",
        arguments: ImageFileTests.samples.keys.filter { $0.hasSuffix(".webp") }
    )
    func samples(name: String) async throws {
        let photo = try ImageFileTests.sample(name)
        #expect(try await Strip.bytes(photo) == photo)
    }

    @Test("Chunks of metadata go, wherever they are, and what comes behind the file's length, too")
    func metadataGoes() async throws {
        let clean = Self.file(Self.header(0x30) + Self.profile + Self.alpha + Self.lossy)
        for chunk in [Self.exif(1), Self.xmp, Self.secret, Self.loop, Self.frame(Self.secret), Self.profile] {
            for photo in [
                Self.profile + chunk + Self.alpha + Self.lossy, Self.profile + Self.alpha + Self.lossy + chunk,
                Self.profile + Self.alpha + chunk + Self.lossy + chunk,
            ] {
                #expect(try await Strip.bytes(Self.file(Self.header(0x3C) + photo)) == clean)
            }
        }
        #expect(try await Strip.bytes(clean + Strip.secret) == clean)
        for simple in [Self.lossy, Self.lossless] {
            for rest in [Self.exif(6), Self.xmp, Self.secret, Self.profile, Self.lossy] {
                #expect(try await Strip.bytes(Self.file(simple + rest) + Strip.secret) == Self.file(simple))
            }
        }
    }

    @Test("The header announces what is there, and reserved bits are zero")
    func flags() async throws {
        let picture = Self.alpha + Self.lossy
        for (flags, kept) in [(0xFF, 0x30), (0x10, 0x10), (0x2C, 0x20), (0xC1, 0)] as [(UInt8, UInt8)] {
            let isAnimated = flags & 2 != 0
            let photo =
                Self.header(flags, reserved: 9) + Self.profile
                + (isAnimated ? Self.loop + Self.frame(picture) : picture)
            let expected =
                Self.header(isAnimated ? kept | 2 : kept) + (kept & 0x20 == 0 ? [] : Self.profile)
                + (isAnimated ? Self.loop + Self.frame(picture) : picture)
            #expect(try await Strip.bytes(Self.file(photo)) == Self.file(expected))
        }
        // A profile that is not announced, and one that is not there.
        let unannounced = Self.file(Self.header(0) + Self.profile + Self.lossless)
        #expect(try await Strip.bytes(unannounced) == Self.file(Self.header(0) + Self.lossless))
        let missing = Self.file(Self.header(0x20) + Self.lossless)
        #expect(try await Strip.bytes(missing) == Self.file(Self.header(0) + Self.lossless))
    }

    @Test("Pictures of an animation lose unknown chunks, and have the right lengths")
    func frames() async throws {
        let frames = Self.frame(Self.alpha + Self.lossy) + Self.frame(Self.lossless)
        let clean = Self.file(Self.header(0x12) + Self.loop + frames)
        #expect(try await Strip.bytes(clean) == clean)
        let photo =
            Self.header(0x12) + Self.loop + Self.loop
            + Self.frame(Self.secret + Self.alpha + Self.secret + Self.lossy + Self.xmp, flags: 0xFF) + Self.secret
            + Self.frame(Self.lossless + Self.secret)
        #expect(try await Strip.bytes(Self.file(photo)) == clean)
        // The last chunk of a frame may lack its byte of padding.
        let odd = Self.chunk("VP8 ", [0, 0, 0, 0x9D, 1, 0x2A, 31, 0, 17, 0, 7])
        let short = Self.file(Self.header(2) + Self.loop + Self.frame(odd.dropLast()))
        #expect(try await Strip.bytes(short) == Self.file(Self.header(2) + Self.loop + Self.frame(odd)))
    }

    @Test("Bytes of padding are zero")
    func padding() async throws {
        let pixels: [UInt8] = [0, 0, 0, 0x9D, 1, 0x2A, 31, 0, 17, 0, 7]
        let clean = Self.file(Self.chunk("VP8 ", pixels))
        #expect(try await Strip.bytes(Self.file(Self.chunk("VP8 ", pixels, padding: 9))) == clean)
        #expect(try await Strip.bytes(Self.file(Self.chunk("VP8 ", pixels).dropLast())) == clean)
        #expect(try await Strip.bytes(Self.file(Self.chunk("VP8 ", pixels).dropLast()) + [9]) == clean)
        let profile = Self.chunk("ICCP", [1], padding: 9)
        let extended = Self.file(Self.header(0x20) + profile + Self.lossless)
        let expected = Self.file(Self.header(0x20) + Self.chunk("ICCP", [1]) + Self.lossless)
        #expect(try await Strip.bytes(extended) == expected)
    }

    @Test("The orientation stays, behind the pixels", arguments: 0...9 as ClosedRange<UInt8>)
    func orientation(orientation: UInt8) async throws {
        let isKept = (2...8).contains(orientation)
        let kept = isKept ? Self.chunk("EXIF", TestExif.kept(orientation)) : []
        for isBigEndian in [true, false] {
            let tiff = TestExif.tiff(Int(orientation), isBigEndian: isBigEndian)
            for contents in [tiff, Array("Exif\0\0".utf8) + tiff, tiff + Array(repeating: 0, count: 70_000)] {
                let exif = Self.chunk("EXIF", contents)
                let expected = Self.file(Self.header(isKept ? 0x18 : 0x10) + Self.alpha + Self.lossy + kept)
                for photo in [
                    Self.alpha + Self.lossy + exif, exif + Self.alpha + Self.lossy,
                    Self.alpha + Self.lossy + exif + Self.xmp,
                    // Of several, the first counts.
                    Self.alpha + Self.lossy + exif + Self.exif(4),
                ] {
                    #expect(try await Strip.bytes(Self.file(Self.header(0x1C) + photo)) == expected)
                }
            }
        }
        // Decoders do not look for what is not announced.
        let unannounced = Self.file(Self.header(0) + Self.lossless + Self.exif(Int(orientation)))
        #expect(try await Strip.bytes(unannounced) == Self.file(Self.header(0) + Self.lossless))
    }

    @Test(
        "A photo that breaks the format is refused",
        arguments: [
            chunk("VP8X", [0, 0, 0, 0, 30, 0, 0, 16, 0, 0, 0, 0]) + lossy,
            chunk("VP8X", Array(repeating: 0, count: 9)) + lossy,
            header(0) + header(0) + lossy, header(0) + lossy + header(0), header(0), header(0) + alpha, header(0) + xmp,
            header(0) + lossy + lossy, header(0) + lossy + lossless, header(0) + alpha + alpha + lossy,
            header(2) + loop,
            header(2) + loop + lossy, header(2) + frame(lossy), header(2) + frame(lossy) + loop,
            header(2) + loop + frame([]), header(2) + loop + frame(alpha), header(2) + loop + frame(secret),
            header(2) + loop + frame(lossy + lossy), header(2) + loop + frame(lossy + lossless),
            header(2) + loop + frame(alpha + alpha + lossy), header(2) + loop + frame(lossy + [0, 0, 0, 0, 0, 0]),
            header(2) + loop + frame(lossy.dropLast(2)),
            header(2) + loop + chunk("ANMF", Array(repeating: 0, count: 15)),
            header(2) + chunk("ANIM", [0, 0, 0, 0, 0]) + frame(lossy),
            header(2) + chunk("ANIM", [0, 0, 0, 0, 0, 0, 0]) + frame(lossy), header(0) + lossy + [0, 0, 0, 0],
            header(0) + lossy + Array("XMP ".utf8) + [1, 0, 0, 0], header(0) + lossy.dropLast(2), xmp + lossy,
        ] as [[UInt8]]
    )
    func refused(chunks: [UInt8]) async throws {
        #expect(try await Strip.accepts(Self.file(Self.header(0) + Self.lossy)))
        #expect(try await Strip.accepts(Self.file(Self.header(2) + Self.loop + Self.frame(Self.lossy))))
        #expect(try await !Strip.accepts(Self.file(chunks)))
    }
}
