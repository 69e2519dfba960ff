import Testing

@testable import ImageFiles

@Suite("User data in coded pictures, stripped")
struct HEIFUserDataTests {
    private static let slice: [UInt8] = [0x28, 1, 0, 0, 3, 0] + Array("KEPT".utf8)
    private static let secret = Array("SECRET".utf8)

    /// SEI with one message.
    private static func information(_ type: UInt8, _ payload: [UInt8], isBehind: Bool = false) -> [UInt8] {
        [isBehind ? 0x50 : 0x4E, 1, type, UInt8(payload.count)] + payload + [0x80]
    }

    static func hvcC(lengthBytes: Int = 4, units: [[UInt8]] = []) -> [UInt8] {
        let array = [0xA7] + Boxes.number(units.count, 2) + units.flatMap { Boxes.number($0.count, 2) + $0 }
        return Boxes.box("hvcC", Array(repeating: 1, count: 21) + [0xFC | UInt8(lengthBytes - 1), 1] + array)
    }

    private static func file(_ configuration: [UInt8], _ data: [UInt8], kind: String, extentCount: Int = 1) -> [UInt8] {
        BuiltHEIF { heif in
            heif.properties.append(configuration)
            heif.items = [1, 2].map { id in
                .init(id, kind) { ($0.data, $0.properties, $0.extentCount) = (data, [1, 0x82], extentCount) }
            }
            heif.references = [.init("dimg", from: 3, to: 1, 2)]
            heif.items.append(.init(3, "grid"))
            heif.primary = 3
        }.bytes
    }

    @Test("User data in HEVC becomes 0xFF, in extents and lengths of any kind", arguments: [1, 2, 4], 1...7)
    func hevc(lengthBytes: Int, extentCount: Int) async throws {
        let units = [
            Self.information(5, Self.secret), Self.information(4, Self.secret, isBehind: true),
            Self.information(137, Array("KEPT colour".utf8)), Self.slice,
        ]
        let data = units.flatMap { Boxes.number($0.count, lengthBytes) + $0 }
        let bytes = Self.file(Self.hvcC(lengthBytes: lengthBytes), data, kind: "hvc1", extentCount: extentCount)
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        let filled = [UInt8](repeating: 0xFF, count: 6)
        let expected = [Self.information(5, filled), Self.information(4, filled, isBehind: true)] + units.suffix(2)
        let expectedData = expected.flatMap { Boxes.number($0.count, lengthBytes) + $0 }
        #expect(stripped.suffix(data.count * 2 + 9).starts(with: expectedData + expectedData))
    }

    @Test("The configuration of HEVC is stripped as well, and what follows it")
    func configuration() async throws {
        let units = [Self.information(5, Self.secret), Self.slice]
        var box = Self.hvcC(units: units) + Self.secret
        box.replaceSubrange(..<4, with: Boxes.number(box.count, 4))
        for bytes in [
            Self.file(box, Boxes.number(10, 4) + Self.slice, kind: "hvc1"), BuiltSequence { $0.inEntry = box }.bytes,
        ] {
            var bytes = bytes
            // The sequence's samples are units of no bytes.
            if let samples = bytes.firstRange(of: Array("KEPT oneKEPT twoKEPT 3".utf8)) {
                bytes.replaceSubrange(samples, with: Array(repeating: 0, count: samples.count - 2) + [0, 0])
                let sizes = try #require(bytes.firstRange(of: Array("stsz".utf8))).upperBound + 12
                bytes.replaceSubrange(sizes..<(sizes + 12), with: [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 4])
            }
            let stripped = try #require(try await HEIFStrip.strip(bytes))
            let start = try #require(stripped.firstRange(of: Array("hvcC".utf8))).lowerBound - 4
            let expected = Self.hvcC(units: [Self.information(5, Array(repeating: 0xFF, count: 6)), Self.slice])
                .dropFirst(4)
            #expect(stripped[(start + 4)...].starts(with: expected + Array(repeating: 0, count: 6)))
        }
    }

    @Test(
        "Emulation prevention bytes stay where they are",
        arguments: [
            ([5, 4, 0, 0, 3, 1, 9, 0x80], [5, 4, 0, 0, 3, 0xFF, 0xFF, 0x80]),
            ([5, 5, 7, 0, 0, 3, 0, 9, 0x80], [5, 5, 0xFF, 0, 0, 3, 0xFF, 0xFF, 0x80]),
            ([5, 2, 0, 0, 3, 0x80], [5, 2, 0, 0, 3, 0x80]),
            // Messages that do not fit.
            ([5, 9, 8, 0, 0, 3, 8, 0x80], [0xFF, 0xFF, 0xFF, 0, 0, 3, 0xFF, 0xFF]), ([5], [5]),
            ([0xFF, 8, 0xFF], [0xFF, 0xFF, 0xFF]),
            // Two messages, and a type and a length of two bytes.
            ([1, 1, 8, 4, 2, 8, 8, 0x80], [1, 1, 8, 4, 2, 0xFF, 0xFF, 0x80]),
            ([0xFF, 5, 1, 8, 5, 1, 8, 0x80], [0xFF, 5, 1, 8, 5, 1, 0xFF, 0x80]),
            (
                [5, 0xFF, 1] + Array(repeating: 8, count: 256) + [0x80],
                [5, 0xFF, 1] + Array(repeating: 0xFF, count: 256) + [0x80]
            ),
        ] as [([UInt8], [UInt8])]
    )
    func emulation(messages: [UInt8], expected: [UInt8]) {
        let stripped = HEVCStripping.strip([0x4E, 1] + messages)
        #expect(stripped == [0x4E, 1] + expected)
        #expect(HEVCStripping.strip(stripped) == stripped)
    }

    @Test("Metadata OBUs become padding, but for those of brightness and layers", arguments: 1...5)
    func av1(extentCount: Int) async throws {
        let kept: [[UInt8]] = [[0x0A, 2, 1, 2], [0x2A, 5, 1, 9, 9, 9, 9], [0x2A, 2, 2, 9], [0x2E, 0, 2, 3, 9]]
        let secrets: [[UInt8]] = [
            [0x2A, 7, 4] + Self.secret, [0x2A, 7, 5] + Self.secret, [0x2A, 7, 31] + Self.secret,
            [0x7A, 6] + Self.secret,
            [0x2E, 0, 0x87, 0, 4] + Self.secret,
        ]
        let last: [UInt8] = [0x30] + Array("KEPT".utf8)
        let padding: [[UInt8]] = [
            [0x7A, 7, 0, 0, 0, 0, 0, 0, 0x80], [0x7A, 7, 0, 0, 0, 0, 0, 0, 0x80], [0x7A, 7, 0, 0, 0, 0, 0, 0, 0x80],
            [0x7A, 6, 0, 0, 0, 0, 0, 0x80], [0x7E, 0, 0x87, 0, 0, 0, 0, 0, 0, 0, 0x80],
        ]
        let data = (kept + secrets + [last]).flatMap { $0 }
        let configuration = Boxes.box("av1C", [0x81, 0, 0, 0] + secrets[0])
        let bytes = Self.file(configuration, data, kind: "av01", extentCount: extentCount)
        let stripped = try #require(try await HEIFStrip.strip(bytes))
        let expected = (kept + padding + [last]).flatMap { $0 }
        #expect(stripped.suffix(data.count * 2 + 9).starts(with: expected + expected))
        let own = try #require(stripped.firstRange(of: Array("av1C".utf8))).upperBound
        #expect(stripped[own...].starts(with: [0x81, 0, 0, 0] + padding[0]))
    }

    @Test(
        "Units that do not fit are refused",
        arguments: [
            ("hvc1", hvcC(), [0, 0, 0, 3, 0x28, 1]), ("hvc1", hvcC(), [0, 0, 0]),
            ("hvc1", hvcC(), [0, 0, 0x40, 1, 0x4E, 1] + Array(repeating: 0, count: 0x4000 - 1)),
            ("hvc1", Boxes.box("hvcC", Array(repeating: 1, count: 22)), [0, 0, 0, 0]),
            ("hvc1", Boxes.box("hvcC", Array(repeating: 1, count: 23)), [0, 0, 0, 0]),
            ("av01", Boxes.box("av1C", [0x81, 0, 0]), [0x0A, 0]),
            ("av01", Boxes.box("av1C", [0x81, 0, 0, 0]), [0x0A, 1]),
            ("av01", Boxes.box("av1C", [0x81, 0, 0, 0]), [0x0A]),
            ("av01", Boxes.box("av1C", [0x81, 0, 0, 0]), [0x0A] + Array(repeating: 0x80, count: 9)),
            ("av01", Boxes.box("av1C", [0x81, 0, 0, 0, 0x0A, 1]), [0x0A, 0]),
        ] as [(String, [UInt8], [UInt8])]
    )
    func refused(kind: String, configuration: [UInt8], data: [UInt8]) async throws {
        #expect(try await HEIFStrip.strip(Self.file(configuration, data, kind: kind)) == nil)
    }

    @Test("Two items may have the same data")
    func shared() async throws {
        let data = [0, 0, 0, 11] + Self.information(5, Self.secret)
        let heif = BuiltHEIF { heif in
            heif.properties.append(Self.hvcC())
            heif.items = [1, 2].map { id in .init(id) { ($0.data, $0.properties) = (data, [1, 0x82]) } }
            heif.items[1].shift = -data.count
            heif.references = [.init("dimg", from: 3, to: 1, 2)]
            heif.items.append(.init(3, "grid"))
            heif.primary = 3
        }
        let stripped = try #require(try await HEIFStrip.strip(heif.bytes))
        // The second copy is no item's data.
        #expect(!stripped.holds("SECRET"))
        #expect(stripped.firstRange(of: [5, 6, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x80]) != nil)
    }

    @Test("Two kinds of samples in a track are refused")
    func mixed() async throws {
        let bytes = BuiltSequence {
            $0.inEntry = Self.hvcC(lengthBytes: 1) + Self.hvcC(lengthBytes: 2)
            $0.samples = ["\0\0", "\0\0", "\0\0"]
        }.bytes
        #expect(try await HEIFStrip.strip(bytes) == nil)
    }
}
