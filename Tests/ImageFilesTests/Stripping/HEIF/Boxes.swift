@testable import ImageFiles

/// Writes boxes of an ISO base media file.
enum Boxes {
    static func box(_ kind: String, _ contents: [UInt8] = []) -> [UInt8] {
        number(contents.count + 8, 4) + kind.utf8 + contents
    }

    static func full(_ kind: String, version: Int = 0, flags: Int = 0, _ contents: [UInt8] = []) -> [UInt8] {
        box(kind, number(version, 1) + number(flags, 3) + contents)
    }

    static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    static func sizeProperty(_ width: Int, _ height: Int) -> [UInt8] {
        full("ispe", number(width, 4) + number(height, 4))
    }

    static func alphaProperty(_ type: String = "urn:mpeg:hevc:2015:auxid:1") -> [UInt8] { full("auxC", text(type)) }
}

/// Strips bytes in memory.
enum HEIFStrip {
    /// What is left; nil when the file is refused.
    ///
    /// All but the bytes is checked here: nothing moves, and what is stripped again is whole.
    static func strip(_ bytes: [UInt8], windowBytes: Int = 16 * 1024) async throws -> [UInt8]? {
        guard let image = try await read(bytes, windowBytes: windowBytes) else { return nil }
        let stripped = apply(image, to: bytes)
        guard image.byteCount == bytes.count, stripped.count == bytes.count else { throw Moved() }
        guard let again = try await read(stripped, windowBytes: windowBytes), again.isWhole(ofLength: bytes.count)
        else {
            throw StrippedAgain()
        }
        return stripped
    }

    static func read(_ bytes: [UInt8], windowBytes: Int = 16 * 1024) async throws -> StrippedImage? {
        try await StrippedImage.read(length: bytes.count, windowBytes: windowBytes) { Array(bytes[$0]) }
    }

    private static func apply(_ image: StrippedImage, to bytes: [UInt8]) -> [UInt8] {
        image.pieces.flatMap { piece in
            switch piece {
            case .file(let range): Array(bytes[range])
            case .bytes(let new): new
            case .zeros(let count): [UInt8](repeating: 0, count: count)
            }
        }
    }

    struct Moved: Error {}
    struct StrippedAgain: Error {}
}

extension [UInt8] {
    func holds(_ text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }
}
