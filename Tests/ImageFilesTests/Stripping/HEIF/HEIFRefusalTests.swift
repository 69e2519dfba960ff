import Testing

@testable import ImageFiles

@Suite("HEIF that is refused rather than half stripped")
struct HEIFRefusalTests {
    /// A change of a HEIF that can be stripped.
    struct Change: CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout BuiltHEIF) -> Void

        init(_ name: String, _ apply: @escaping @Sendable (inout BuiltHEIF) -> Void) {
            testDescription = name
            self.apply = apply
        }
    }

    /// A grid of two tiles with Exif, and a thumbnail.
    private static let valid = BuiltHEIF { heif in
        heif.items = [.init(1, "grid") { $0.method = 1 }, .init(2), .init(3), .init(4, "Exif"), .init(5)]
        heif.references = [
            .init("dimg", from: 1, to: 2, 3), .init("cdsc", from: 4, to: 1), .init("thmb", from: 5, to: 1),
        ]
        heif.properties.append(Boxes.box("irot", [0]))
    }

    private static let changes =
        ["hdlr", "pitm", "iinf", "iloc", "iprp", "idat"].map { kind in
            Change("without \(kind)") { $0.missing = [kind] }
        } + [
            Change("with two hdlr") { $0.inMeta = Boxes.full("hdlr", $0.handler) },
            Change("with two pitm") { $0.inMeta = Boxes.full("pitm", [0, 1]) },
            Change("with two iinf") { $0.inMeta = $0.entryList },
            Change("with two iloc") { $0.inMeta = $0.locationList(0) },
            Change("with two iref") { $0.inMeta = Boxes.full("iref") },
            Change("with two iprp") { $0.inMeta = Boxes.box("iprp", Boxes.box("ipco")) },
            Change("with two idat") { $0.inMeta = Boxes.box("idat") },
            Change("with two ftyp") { $0.behindMeta = Boxes.box("ftyp", Array("heic\0\0\0\0".utf8)) },
            Change("with two meta") { $0.tail = Boxes.full("meta") },
            Change("in fragments") { $0.behindMeta = Boxes.box("moof") },
            Change("in fragments, cut off") { $0.tail = [0, 0, 1, 0] + Array("moof".utf8) },
            Change("with data that is cut off") { $0.tail = [0, 0, 1, 0] + Array("mdat".utf8) },
            Change("of another handler") { $0.handler[4] = 0x50 },
            Change("whose primary item is missing") { $0.primary = 9 },
            Change("whose primary item is Exif") { $0.primary = 4 },
            Change("whose primary item is a JPEG") { $0.items[0].kind = "jpeg" },
            Change("whose primary item is a gain map") { $0.items[0].kind = "tmap" },
            Change("with a tile that is a JPEG") { $0.items[2].kind = "jpeg" },
            Change("with a tile that is missing") { $0.references.append(.init("dimg", from: 1, to: 9)) },
            Change("with a tile that needs another") { $0.references.append(.init("pred", from: 2, to: 3)) },
            Change("with a tile that has layers below") { $0.references.append(.init("exbl", from: 3, to: 5)) },
            Change("with a tile that is made of another") { $0.references.append(.init("base", from: 3, to: 5)) },
            Change("with a tile without data") { $0.items[1].extentCount = 0 },
            Change("with a tile of no bytes") { $0.items[1].data = [] },
            Change("with an item of a property that is not there") { $0.items[0].properties = [1, 3] },
            Change("with an essential property that is not known") {
                $0.properties.append(Boxes.box("abcd"))
                $0.items[2].properties = [1, 0x83]
            },
            Change("with an essential auxiliary that is no alpha") {
                $0.properties.append(Boxes.alphaProperty("urn:mpeg:hevc:2015:auxid:2"))
                $0.items[0].properties = [1, 0x83]
            },
            Change("with items in items") { $0.items[4].method = 2 },
            Change("with data in other files") { $0.items[4].dataReference = 1 },
            Change("with an encrypted item") { $0.items[4].protection = 1 },
            Change("with an entry without kind") { $0.items[4].version = 1 },
            Change("with an entry of the future") { $0.items[4].version = 4 },
            Change("with two items of a number") { $0.items[4].id = 4 },
            Change("with a list of locations of the future") { $0.locationVersion = 3 },
            Change("with data in front of its box") { $0.items[1].shift = -1 },
            Change("with data in lists") { $0.items[1].shift = -100 },
            Change("with data beyond the file") { $0.items[4].shift = 1 },
            Change("with data beyond idat") { $0.items[0].shift = 1 },
            Change("with data of idat in mdat") { $0.items[0].shift = 17 },
            Change("with Exif that overlaps a tile at its start") { $0.items[3].shift = -1 },
            Change("with Exif in a tile") { $0.items[3].shift = -9 },
            Change("with a tile that overlaps Exif") { $0.items[2].shift = 1 },
            Change("with two Exif that overlap") {
                $0.items[4].kind = "Exif"
                $0.items[4].shift = -1
            },
        ]

    @Test("What breaks the format, or is not known, is refused", arguments: changes)
    func refused(change: Change) async throws {
        #expect(try await HEIFStrip.strip(Self.valid.bytes) != nil)
        var heif = Self.valid
        change.apply(&heif)
        #expect(heif.bytes != Self.valid.bytes)
        #expect(try await HEIFStrip.strip(heif.bytes) == nil)
    }

    @Test("The same is no reason to refuse a file when what is dropped has it")
    func dropped() async throws {
        for change in [
            Change("a thumbnail that is a JPEG") { $0.items[4].kind = "jpeg" },
            Change("a thumbnail that needs another") { $0.references.append(.init("pred", from: 5, to: 9)) },
            Change("a thumbnail without data") { $0.items[4].extentCount = 0 },
            Change("a thumbnail of no bytes") { $0.items[4].data = [] },
            Change("a thumbnail with an essential property") {
                $0.properties.append(Boxes.box("abcd"))
                $0.items[4].properties = [1, 0x83]
            },
            Change("a thumbnail with a property that is not there") { $0.items[4].properties = [9] },
            Change("a thumbnail that overlaps Exif at its end") { $0.items[4].shift = 0 },
            Change("a tile in a tile's bytes") { $0.items[2].shift = -9 },
        ] {
            var heif = Self.valid
            change.apply(&heif)
            #expect(try await HEIFStrip.strip(heif.bytes) != nil, "\(change.testDescription)")
        }
    }

    @Test("A file whose first box is another is refused")
    func first() async throws {
        let bytes = Self.valid.bytes
        #expect(try await HEIFStrip.read(Boxes.box("free") + bytes) == nil)
        #expect(try await HEIFStrip.read(Array(bytes.prefix(24))) == nil)
    }

    @Test("A list of items that says another count is refused", arguments: [-1, 1])
    func entryCount(difference: Int) async throws {
        var bytes = Self.valid.bytes
        let count = try #require(bytes.firstRange(of: Array("iinf".utf8))).upperBound + 5
        bytes[count] = UInt8(Int(bytes[count]) + difference)
        #expect(try await HEIFStrip.strip(bytes) == nil)
    }

    @Test("A list of items with another box is refused")
    func otherEntry() async throws {
        var bytes = Self.valid.bytes
        let kind = try #require(bytes.firstRange(of: Array("infe".utf8)))
        bytes.replaceSubrange(kind, with: Array("free".utf8))
        #expect(try await HEIFStrip.strip(bytes) == nil)
    }

    @Test("A cycle of pictures ends")
    func cycle() async throws {
        var heif = Self.valid
        heif.items[1].kind = "iovl"
        heif.references.append(.init("dimg", from: 2, to: 1, 2, 3))
        #expect(try await HEIFStrip.strip(heif.bytes) != nil)
    }
}
