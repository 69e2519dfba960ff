import Testing

@testable import ImageFiles

@Suite("Limits of a HEIF that is stripped")
struct HEIFLimitTests {
    /// A grid of tiles that share their bytes' extents.
    private static func grid(tileCount: Int, name: String = "") -> BuiltHEIF {
        BuiltHEIF { heif in
            heif.items =
                [.init(1, "grid")]
                + (2..<(2 + tileCount)).map { id in
                    .init(id, data: "#") { $0.texts = Boxes.text(name) }
                }
            // A box of references names at most 65,535.
            for start in stride(from: 2, to: 2 + tileCount, by: 100) {
                heif.references.append(.init("dimg", from: 1, to: Array(start..<min(start + 100, 2 + tileCount))))
            }
        }
    }

    @Test("2,048 items", arguments: [(2_047, true), (2_048, false)])
    func items(tileCount: Int, isStripped: Bool) async throws {
        for name in ["", "SECRET"] {
            let stripped = try await HEIFStrip.strip(Self.grid(tileCount: tileCount, name: name).bytes)
            #expect((stripped != nil) == isStripped)
            #expect(stripped?.holds("SECRET") != true)
        }
    }

    @Test("8,192 boxes beside each other", arguments: [(8_189, true), (8_190, false)])
    func boxes(count: Int, isStripped: Bool) async throws {
        let heif = BuiltHEIF { $0.items = [.init(1, data: "#")] }
        // With those of types, items and data.
        let bytes = heif.bytes + Array(repeating: Boxes.box("free", []), count: count).joined()
        #expect((try await HEIFStrip.strip(bytes) != nil) == isStripped)
    }

    @Test("2,048 items in each list", arguments: [(2_048, true), (2_049, false)])
    func lists(count: Int, isStripped: Bool) async throws {
        let items = (1...count).map { BuiltHEIF.Item($0) { $0.extentCount = 0 } }
        let one = BuiltHEIF.Item(1, data: "#")
        for kind in ["iinf", "iloc"] {
            // One list is long, and the other has one item.
            let long = BuiltHEIF { $0.items = [one] + items.dropFirst() }
            var heif = BuiltHEIF { heif in
                heif.items = [one]
                heif.missing = [kind]
                heif.inMeta = Array(
                    repeating: 0,
                    count: kind == "iinf" ? long.entryList.count : long.locationList(0).count
                )
            }
            let offset = try #require(heif.bytes.lastIndex(of: 0x23))
            heif.inMeta = kind == "iinf" ? long.entryList : long.locationList(offset)
            #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped, "\(kind)")
        }
    }

    @Test("4,096 extents", arguments: [(4_095, true), (4_096, false)])
    func extents(count: Int, isStripped: Bool) async throws {
        for kind in ["hvc1", "mime"] {
            let heif = BuiltHEIF {
                $0.items.append(.init(2, kind, data: String(repeating: "#", count: 4_096)) { $0.extentCount = count })
                $0.references = [.init("dimg", from: 1, to: 2)]
            }
            #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped)
        }
    }

    @Test("8,192 references, of which an empty box is one", arguments: [(8_192, true), (8_193, false)])
    func references(count: Int, isStripped: Bool) async throws {
        let heif = BuiltHEIF {
            $0.references = [
                .init("dimg", from: 1, to: Array(repeating: 1, count: count - 1)), .init("dimg", from: 1, to: []),
            ]
        }
        #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped)
    }

    @Test("16,384 uses of properties", arguments: [(64, 63, true), (64, 65, false)])
    func uses(itemCount: Int, last: Int, isStripped: Bool) async throws {
        let heif = BuiltHEIF { heif in
            heif.items = (1...(itemCount + 1)).map { id in
                .init(id) { $0.properties = Array(repeating: 1, count: id <= itemCount ? 255 : last + 1) }
            }
        }
        // 64 times 255, and 64 or 66.
        #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped)
    }

    /// A picture in HEVC or AV1, with its configuration.
    private static func coded(_ kind: String, _ data: [UInt8]) -> [UInt8] {
        BuiltHEIF { heif in
            heif.items = [.init(1, kind) { ($0.data, $0.properties) = (data, [1, 2]) }]
            let configuration = kind == "hvc1" ? HEIFUserDataTests.hvcC() : Boxes.box("av1C", [0x81, 0, 0, 0])
            heif.properties.append(configuration)
        }.bytes
    }

    @Test("65,536 units of coded pictures", arguments: [(65_536, true), (65_537, false)])
    func units(count: Int, isStripped: Bool) async throws {
        let nals = Self.coded("hvc1", Array(repeating: 0, count: count * 4))
        #expect((try await HEIFStrip.strip(nals) != nil) == isStripped)
        let obus = Self.coded("av01", Array(repeating: [0x0A, 0], count: count).flatMap { $0 })
        #expect((try await HEIFStrip.strip(obus) != nil) == isStripped)
    }

    @Test("256 KiB of new bytes", arguments: [(32, true), (33, false)])
    func newBytes(count: Int, isStripped: Bool) async throws {
        // Each SEI has 8,041 bytes.
        let information: [UInt8] = [0x4E, 1, 5] + Array(repeating: 0xFF, count: 31) + [100]
        let unit = information + Array(repeating: 8, count: 31 * 255 + 100) + [0x80]
        let data = Array(repeating: Boxes.number(unit.count, 4) + unit, count: count).flatMap { $0 }
        #expect((try await HEIFStrip.strip(Self.coded("hvc1", data)) != nil) == isStripped)
    }

    @Test("12,288 edits", arguments: [(15, true), (16, false)])
    func edits(boxCount: Int, isStripped: Bool) async throws {
        // Padding is overwritten by three edits, and a free box by one; none changes a byte. The lists take three.
        let padding: [UInt8] = [0x7A, 2, 0, 0x80]
        let bytes = Self.coded("av01", Array(repeating: padding, count: 4_090).flatMap { $0 })
        let boxes = Array(repeating: Boxes.box("free", [0]), count: boxCount).flatMap { $0 }
        #expect((try await HEIFStrip.strip(bytes + boxes) != nil) == isStripped)
    }

    @Test("256 boxes with data", arguments: [(255, true), (256, false)])
    func dataBoxes(count: Int, isStripped: Bool) async throws {
        let heif = BuiltHEIF { $0.tail = Array(repeating: Boxes.box("mdat", [1]), count: count).flatMap { $0 } }
        #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped)
    }

    @Test("8,192 pieces", arguments: [(4_095, true), (4_096, false)])
    func pieces(count: Int, isStripped: Bool) async throws {
        // Each box gets a new kind between two pieces that stay: its length, and its contents of zeros.
        let box = Boxes.box("abcd", [0])
        let heif = BuiltHEIF { $0.tail = Array(repeating: box, count: count).flatMap { $0 } }
        let image = try await HEIFStrip.read(heif.bytes)
        #expect((image != nil) == isStripped)
        if let image { #expect(image.pieces.count == 2 * count + 1) }
    }

    @Test("A list of more than 64 KiB is refused", arguments: [(65_536 - 6, true), (65_536 - 5, false)])
    func longList(count: Int, isStripped: Bool) async throws {
        let heif = BuiltHEIF {
            $0.missing = ["pitm"]
            $0.inMeta = Boxes.full("pitm", [0, 1] + Array(repeating: 7, count: count))
        }
        #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped)
    }
}
