import Testing

@testable import ImageFiles

/// Strips files in memory, and checks what holds for all of them.
enum Strip {
    /// What no stripped file may have.
    static let secrets = ["GPS-48.137", "SN-0815-4711", "Jane Roe", "2024:05:17 11:22:33", "THUMBNAIL"]

    /// All secrets, one after another.
    static let secret = Array(secrets.joined(separator: ";").utf8)

    /// Reads what stays of a file.
    static func read(_ bytes: [UInt8], windowBytes: Int = 16 * 1024) async throws -> StrippedImage? {
        try await StrippedImage.read(length: bytes.count, windowBytes: windowBytes) { Array(bytes[$0]) }
    }

    /// Whether a file is stripped and not refused.
    static func accepts(_ bytes: [UInt8]) async throws -> Bool { try await read(bytes) != nil }

    /// The stripped file.
    ///
    /// It is the same however little is read at a time, has no secret, is an image as large as before, and has nothing
    /// more to strip.
    static func bytes(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) async throws -> [UInt8] {
        let image = try #require(try await read(bytes), sourceLocation: sourceLocation)
        let small = try await read(bytes, windowBytes: 1)
        #expect(small == image, "in windows of a byte", sourceLocation: sourceLocation)
        let stripped = image.apply(to: bytes)
        #expect(stripped.count == image.byteCount, sourceLocation: sourceLocation)
        for secret in secrets {
            #expect(stripped.firstRange(of: Array(secret.utf8)) == nil, "\(secret)", sourceLocation: sourceLocation)
        }
        let before = try await ImageFileTests.read(bytes, mustBeWhole: true)
        let after = try await ImageFileTests.read(stripped, mustBeWhole: true)
        #expect(before != nil, sourceLocation: sourceLocation)
        #expect(after == before, sourceLocation: sourceLocation)
        let again = try await read(stripped)
        #expect(again?.isWhole(ofLength: stripped.count) == true, "stripped again", sourceLocation: sourceLocation)
        return stripped
    }
}

extension StrippedImage {
    /// The stripped file.
    func apply(to bytes: [UInt8]) -> [UInt8] {
        var stripped: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .file(let range): stripped += bytes[range]
            case .bytes(let new): stripped += new
            case .zeros(let count): stripped += Array(repeating: 0, count: count)
            }
        }
        return stripped
    }
}

/// Blocks of Exif.
enum TestExif {
    /// A block of Exif with an orientation, and secrets behind it.
    static func tiff(_ orientation: Int, isBigEndian: Bool = true, type: UInt8 = 3) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            isBigEndian ? value.bigEndianBytes(count) : value.littleEndianBytes(count)
        }
        let order: [UInt8] = isBigEndian ? Array("MM".utf8) : Array("II".utf8)
        let maker = number(271, 2) + number(2, 2) + number(Strip.secret.count, 4) + number(38, 4)
        let turn = number(274, 2) + number(Int(type), 2) + number(1, 4) + number(orientation, 2) + [0, 0]
        return order + number(42, 2) + number(8, 4) + number(2, 2) + maker + turn + number(0, 4) + Strip.secret
    }

    /// The block that stays of it.
    static func kept(_ orientation: UInt8) -> [UInt8] {
        [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }
}
