import Testing

@testable import ImageFiles

@Suite("Lists of a HEIF's items, in all their forms")
struct HEIFListTests {
    @Test(
        "Places are numbers of no, four or eight bytes",
        arguments: [
            ([4, 4, 0, 0], true), ([8, 4, 0, 0], true), ([4, 8, 4, 4], true), ([0, 4, 8, 0], true),
            ([0, 8, 4, 8], true),
            ([2, 4, 0, 0], false), ([4, 2, 0, 0], false), ([4, 4, 2, 0], false), ([4, 4, 0, 2], false),
            ([4, 0, 0, 0], false),
        ] as [([Int], Bool)]
    )
    func places(bytes: [Int], isStripped: Bool) async throws {
        func list(_ offset: Int) -> [UInt8] {
            let base = bytes[2] == 0 ? 0 : bytes[0] == 0 ? offset : offset - 5
            return Boxes.full(
                "iloc",
                version: 1,
                Boxes.number(bytes[0] << 12 | bytes[1] << 8 | bytes[2] << 4 | bytes[3], 2) + Boxes.number(1, 2)
                    + [0, 1, 0, 0, 0, 0] + Boxes.number(base, bytes[2]) + [0, 1] + Boxes.number(0, bytes[3])
                    + Boxes.number(offset - base, bytes[0]) + Boxes.number(4, bytes[1])
            )
        }
        var heif = BuiltHEIF {
            $0.items = [.init(1, data: "KEPT")]
            $0.missing = ["iloc"]
            $0.gap = Array("SECRET".utf8)
            $0.inMeta = list(0)
        }
        heif.inMeta = list(try #require(heif.bytes.firstRange(of: Array("KEPT".utf8))).lowerBound)
        let stripped = try await HEIFStrip.strip(heif.bytes)
        #expect((stripped != nil) == isStripped)
        if let stripped { #expect(stripped.holds("KEPT") && !stripped.holds("SECRET")) }
    }

    @Test("References have numbers of two or four bytes", arguments: [(0, true), (1, true), (2, false)])
    func references(version: Int, isStripped: Bool) async throws {
        let idBytes = version == 0 ? 2 : 4
        let ids = Boxes.number(1, idBytes) + [0, 1] + Boxes.number(2, idBytes)
        let heif = BuiltHEIF {
            $0.items = [.init(1, "grid", data: "KEPT grid"), .init(2, data: "KEPT tile"), .init(3, data: "SECRET")]
            $0.missing = ["iref"]
            $0.inMeta = Boxes.full("iref", version: version, Boxes.box("dimg", ids))
        }
        let stripped = try await HEIFStrip.strip(heif.bytes)
        #expect((stripped != nil) == isStripped)
        if let stripped { #expect(stripped.holds("KEPT tile") && !stripped.holds("SECRET")) }
    }

    @Test("Uses of properties have numbers of seven or fifteen bits", arguments: [(0, true), (1, true), (2, false)])
    func uses(version: Int, isStripped: Bool) async throws {
        for flags in 0...1 {
            let numbers = [1, 2].flatMap { Boxes.number($0 | (flags == 0 ? 0x80 : 0x8000), flags + 1) }
            let uses = Boxes.number(1, 4) + Boxes.number(1, version == 0 ? 2 : 4) + [2] + numbers
            let heif = BuiltHEIF {
                $0.missing = ["iprp"]
                $0.inMeta = Boxes.box(
                    "iprp",
                    Boxes.box("ipco", Boxes.sizeProperty(64, 48) + Boxes.box("irot", [1]) + Boxes.box("imir", [1]))
                        + Boxes.full("ipma", version: version, flags: flags, uses + Array("SECRET".utf8))
                        + Boxes.box("abcd", Array("SECRET".utf8))
                )
            }
            let stripped = try await HEIFStrip.strip(heif.bytes)
            #expect((stripped != nil) == isStripped)
            guard let stripped else { continue }
            #expect(stripped.holds("irot") && !stripped.holds("imir") && !stripped.holds("SECRET"))
            #expect(try await ImageFileTests.read(stripped)?.size == (try ImageSize(width: 48, height: 64)))
        }
    }

    @Test("An item that two lists of properties have is refused")
    func twoLists() async throws {
        let list = Boxes.full("ipma", Boxes.number(1, 4) + [0, 1, 1, 1])
        for (lists, isStripped) in [(list, true), (list + list, false)] {
            let heif = BuiltHEIF {
                $0.missing = ["iprp"]
                $0.inMeta = Boxes.box("iprp", Boxes.box("ipco", Boxes.sizeProperty(64, 48)) + lists)
            }
            #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped)
        }
    }

    @Test("The number of the primary item has two or four bytes", arguments: [(0, true), (1, true), (2, false)])
    func primary(version: Int, isStripped: Bool) async throws {
        let heif = BuiltHEIF {
            $0.missing = ["pitm"]
            $0.inMeta = Boxes.full("pitm", version: version, Boxes.number(1, version == 0 ? 2 : 4))
        }
        #expect((try await HEIFStrip.strip(heif.bytes) != nil) == isStripped)
    }

    @Test("A picture that is another one turned needs no data")
    func identity() async throws {
        let heif = BuiltHEIF {
            $0.items = [.init(1, "iden") { $0.extentCount = 0 }, .init(2, data: "KEPT")]
            $0.references = [.init("dimg", from: 1, to: 2)]
        }
        #expect(try await HEIFStrip.strip(heif.bytes)?.holds("KEPT") == true)
    }
}
