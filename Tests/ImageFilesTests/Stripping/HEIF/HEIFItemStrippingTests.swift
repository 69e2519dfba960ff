import Testing

@testable import ImageFiles

@Suite("Items of a HEIF, stripped")
struct HEIFItemStrippingTests {
    /// As of a phone: tiles, a thumbnail, metadata, depth, a gain map and another picture.
    static let phone = BuiltHEIF { heif in
        heif.properties = [
            Boxes.sizeProperty(64, 48), Boxes.sizeProperty(32, 24), Boxes.full("pixi", [3, 8, 8, 8]),
            Boxes.box("irot", [1]), Boxes.full("auxC", Boxes.text("urn:mpeg:hevc:2015:auxid:2") + "SECRET sei".utf8),
            Boxes.full("udes", Boxes.text("en") + Boxes.text("SECRET name")), Boxes.alphaProperty(),
            Boxes.box("hvcC", Array("SECRET thumbnail's".utf8)), Boxes.box("uuid", Array("SECRET uuid".utf8)),
        ]
        heif.items = [
            .init(1, data: "KEPT tile 1") { $0.properties = [2] },
            .init(2, data: "KEPT tile 2") {
                $0.properties = [2]; $0.extentCount = 3
            },
            .init(3, "grid", data: "KEPT grid") {
                ($0.properties, $0.method, $0.texts) = ([1, 3, 0x84, 6, 9], 1, Boxes.text("SECRET title"))
            },
            .init(4, data: "SECRET thumbnail") { $0.properties = [2, 0x88] },
            .init(5, "Exif", data: "\0\0\0\u{6}Exif\0\0MM\0*\0\0\0\u{8} SECRET place") { $0.properties = [] },
            .init(6, "mime", data: "SECRET XMP") {
                $0.properties = []
                $0.texts = Boxes.text("SECRET name") + Boxes.text("application/SECRET") + Boxes.text("SECRET encoding")
            },
            .init(7, "uri ", data: "SECRET uri's") { $0.texts = Boxes.text("") + Boxes.text("urn:SECRET") },
            .init(8, data: "SECRET depth") { $0.properties = [2, 5] },
            .init(9, "tmap", data: "SECRET gain map") { $0.method = 1 },
            .init(10, data: "SECRET burst") { $0.extentCount = 2 },
            .init(11, "grid", data: "KEPT alpha") { $0.properties = [1, 7] },
            .init(12, data: "KEPT alpha's tile") { $0.properties = [2] },
            .init(13, "unkn", data: "SECRET unknown"),
        ]
        heif.references = [
            .init("dimg", from: 3, to: 1, 2), .init("thmb", from: 4, to: 3), .init("cdsc", from: 5, to: 3),
            .init("cdsc", from: 6, to: 3), .init("auxl", from: 8, to: 3), .init("dimg", from: 9, to: 3, 8),
            .init("auxl", from: 11, to: 3), .init("dimg", from: 11, to: 12, 12),
        ]
        heif.primary = 3
        heif.handler = Array("mhlrpictSECRET maker SECRET name\0".utf8)
        heif.gap = Array("SECRET gap".utf8)
        let secret = Array("SECRET".utf8)
        heif.inMeta =
            Boxes.box("free", secret) + Boxes.full("grpl", secret) + Boxes.box("xml ", secret)
            + Boxes.box("dinf", secret) + Boxes.box("udta", Boxes.box("name", secret))
        heif.behindMeta = Boxes.box("uuid", secret) + Boxes.box("skip", secret) + Boxes.box("mfra", secret)
        heif.tail = Boxes.box("mpvd", secret) + Boxes.box("mdat", secret) + Array("SEFT and other SECRET".utf8)
    }

    @Test("Nothing but the primary picture, its tiles and its alpha is left")
    func phone() async throws {
        let bytes = Self.phone.bytes
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        #expect(bytes.holds("SECRET"))
        #expect(!stripped.holds("SECRET"))
        for word in ["KEPT tile 1", "KEPT tile 2", "KEPT grid", "KEPT alpha", "KEPT alpha's tile"] {
            #expect(stripped.firstRange(of: Array(word.utf8)) == bytes.firstRange(of: Array(word.utf8)), "\(word)")
        }
        let image = try await ImageFileTests.read(bytes)
        #expect(image?.size == (try ImageSize(width: 48, height: 64)))
        #expect(try await ImageFileTests.read(stripped, mustBeWhole: true) == image)
    }

    @Test("What is dropped has no kind, and is hidden; only Exif of a kept picture stays an empty one")
    func hidden() async throws {
        let bytes = Self.phone.bytes
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        for item in Self.phone.items {
            let entry = Array("infe".utf8) + [2, 0, 0, 0] + Boxes.number(item.id, 2) + [0, 0]
            let start = try #require(bytes.firstRange(of: entry)).upperBound
            let isSeen = [1, 2, 3, 5, 11, 12].contains(item.id)
            let kind = String(decoding: stripped[start..<(start + 4)], as: UTF8.self)
            #expect(kind == (isSeen ? item.kind : "free"), "\(item.id)")
            #expect(stripped[start - 5] == (isSeen ? 0 : 1), "\(item.id)")
        }
    }

    @Test("References of what is dropped are free, and keep their numbers; others stay")
    func references() async throws {
        let stripped = try #require(try await HEIFStrip.strip(Self.phone.bytes))
        let start = try #require(stripped.firstRange(of: Array("iref".utf8))).upperBound + 4
        var expected: [UInt8] = []
        for reference in Self.phone.references {
            let isSeen = Set([1, 2, 3, 5, 11, 12]).isSuperset(of: reference.to + [reference.from])
            expected += Boxes.box(
                isSeen ? reference.kind : "free",
                ([reference.from, reference.to.count] + reference.to).flatMap { Boxes.number($0, 2) }
            )
        }
        #expect(stripped[start..<(start + expected.count)].elementsEqual(expected))
    }

    @Test("Exif of a picture that is dropped describes nothing")
    func exifOfDropped() async throws {
        let heif = BuiltHEIF {
            $0.items += [.init(2), .init(3, "Exif")]
            $0.references = [.init("cdsc", from: 3, to: 2)]
        }
        let stripped = try #require(try await HEIFStrip.strip(heif.bytes))
        #expect(!stripped.holds("cdsc"))
    }

    @Test("Exif in several extents is one empty header, as far as there is room", arguments: [1, 7, 8, 17, 18, 19, 40])
    func exifExtents(count: Int) async throws {
        for extentCount in 1...min(count, 3) {
            let heif = BuiltHEIF {
                let data = String(repeating: "#", count: count)
                $0.items.append(.init(2, "Exif", data: data) { $0.extentCount = extentCount })
            }
            let bytes = heif.bytes
            let stripped = try #require(try await HEIFStrip.strip(bytes))
            let header: [UInt8] = [0, 0, 0, 0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8] + Array(repeating: 0, count: 40)
            #expect(stripped.suffix(count).elementsEqual(header.prefix(count)))
        }
    }

    @Test("A property keeps its place, and only what says something of a kept picture stays")
    func properties() async throws {
        let secret = Array("SECRET".utf8)
        let profile = Boxes.number(12, 4) + Array("KEPT ICC".utf8)
        let kept: [(String, [UInt8])] = [
            ("ispe", Boxes.number(0, 4) + Boxes.number(64, 4) + Boxes.number(48, 4)), ("irot", [1]), ("imir", [1]),
            ("clap", [64, 1, 48, 1, 0, 1, 0, 1].flatMap { Boxes.number($0, 4) }),
            ("pasp", Array(repeating: 1, count: 8)),
            ("pixi", [0, 0, 0, 0, 3, 8, 8, 8]), ("colr", Array("nclx\0\u{1}\0\u{2}\0\u{3}\u{7F}".utf8)),
            ("colr", Array("prof".utf8) + profile), ("colr", Array("rICC".utf8) + profile),
            ("mdcv", Array(repeating: 2, count: 24)), ("clli", [1, 2, 3, 4]), ("amve", Array(repeating: 3, count: 8)),
            ("lsel", [0, 1]), ("a1op", [1]), ("a1lx", [0, 1, 2, 3, 4, 5, 6]),
        ]
        let heif = BuiltHEIF { heif in
            heif.properties = kept.map { Boxes.box($0.0, $0.1 + secret) }
            heif.properties.append(Boxes.box("cmin", secret))
            heif.properties.append(Boxes.full("auxC", Boxes.text("urn:SECRET")))
            heif.properties.append(Boxes.box("colr", Array("SECR".utf8) + secret))
            heif.items[0].properties = Array(1...UInt8(heif.properties.count))
        }
        let stripped = try #require(try await HEIFStrip.strip(heif.bytes))
        #expect(!stripped.holds("SECR"))
        let start = try #require(stripped.firstRange(of: Array("ipco".utf8))).upperBound
        let expected = kept.flatMap { Boxes.box($0.0, $0.1 + Array(repeating: 0, count: 6)) }
        #expect(stripped[start..<(start + expected.count)].elementsEqual(expected))
        let freed = [6, 15, 10].flatMap { Boxes.box("free", Array(repeating: 0, count: $0)) }
        #expect(stripped[(start + expected.count)...].starts(with: freed))
    }

    @Test("Bytes behind the lists are overwritten")
    func behindLists() async throws {
        var bytes = BuiltHEIF { heif in
            heif.missing = ["pitm", "iref"]
            heif.items.append(.init(2, "Exif"))
            heif.inMeta = Boxes.full("pitm", [0, 1] + Array("SECRET".utf8))
            heif.inMeta += Boxes.full("iref", Boxes.box("cdsc", [0, 2, 0, 1, 0, 1] + Array("SECRET".utf8)))
        }.bytes
        // The list of locations says that it has one item less.
        let list = try #require(bytes.firstRange(of: Array("iloc".utf8))).upperBound
        bytes[list + 7] = 1
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        #expect(!stripped.holds("SECRET"))
        let second = (list + 8 + 16)..<(list + 8 + 32)
        #expect(bytes[second].contains { $0 != 0 } && stripped[second].allSatisfy { $0 == 0 })
    }

    @Test("Lists of all versions are read")
    func versions() async throws {
        for version in 0...2 {
            let heif = BuiltHEIF {
                $0.locationVersion = version
                $0.items.append(.init(2, "mime", data: "SECRET") { $0.version = 3 })
            }
            let stripped = try #require(try await HEIFStrip.strip(heif.bytes))
            #expect(!stripped.holds("SECRET") && stripped.holds("data of 1"))
        }
    }

    @Test("Bytes behind the boxes are a free box afterwards, or zeros", arguments: [1, 7, 8, 9, 300])
    func tail(count: Int) async throws {
        let bytes = BuiltHEIF { $0.tail = Array(repeating: 0xEE, count: count) }.bytes
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        let head = count < 8 ? [] : Boxes.number(count, 4) + Array("free".utf8)
        #expect(stripped.suffix(count).elementsEqual(head + Array(repeating: 0, count: count - head.count)))
    }

    @Test("A second file behind the picture goes, such as the video of a moving photo")
    func secondFile() async throws {
        let secret = Array("SECRET".utf8)
        let video =
            Boxes.box("ftyp", Array("mp42\0\0\0\0".utf8)) + Boxes.box("moov", secret) + Boxes.box("mdat", secret)
        let stripped = try #require(try await HEIFStrip.strip(BuiltHEIF { $0.tail = video }.bytes))
        let free = Boxes.number(video.count, 4) + Array("free".utf8) + Array(repeating: 0, count: video.count - 8)
        #expect(stripped.suffix(video.count).elementsEqual(free))
    }

    @Test("A long free range is read to its first other byte, and read through when it is stripped")
    func readsLittle() async throws {
        for (fill, maxBytes) in [(1, 100_000), (0, 3_100_000)] as [(UInt8, Int)] {
            let bytes = BuiltHEIF { $0.tail = Boxes.box("mpvd", Array(repeating: fill, count: 3_000_000)) }.bytes
            var (asked, largest) = (0, 0)
            let image = try await StrippedImage.read(length: bytes.count) { range in
                asked += range.count
                largest = max(largest, range.count)
                return Array(bytes[range])
            }
            #expect(image?.byteCount == bytes.count)
            #expect(asked <= maxBytes && largest <= 65_536)
        }
    }
}
