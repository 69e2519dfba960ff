/// Reads the size of a GIF, as far as its first picture.
///
/// Source: CompuServe, "Graphics Interchange Format, Version 89a", sections 17 to 26.
enum GIFFile {
    static func size(_ file: inout FileBytes) async throws -> ImageSize {
        let screen = try await file.bytes(at: 6, count: 7)
        let size = try ImageSize(
            width: screen.littleEndian(at: 0, count: 2),
            height: screen.littleEndian(at: 2, count: 2)
        )
        let flags = screen.bigEndian(at: 4, count: 1)
        var offset = 13
        // The global color table: two to the power of the three lowest bits plus one, three bytes each.
        if flags & 0x80 != 0 { offset += 3 << (flags & 0x07 + 1) }
        while true {
            switch try await file.byte(at: offset) {
            case extensionIntroducer: offset = try await endOfBlocks(&file, at: offset + 2)
            case imageSeparator:
                // Left, top, width, height, flags.
                let picture = try await file.bytes(at: offset + 1, count: 9)
                _ = try ImageSize(
                    width: picture.littleEndian(at: 4, count: 2),
                    height: picture.littleEndian(at: 6, count: 2)
                )
                return size
            default: throw NoImage()
            }
        }
    }

    private static let extensionIntroducer: UInt8 = 0x21
    private static let imageSeparator: UInt8 = 0x2C

    /// Where a row of blocks ends: each has its length in front, and the last has none.
    private static func endOfBlocks(_ file: inout FileBytes, at start: Int) async throws -> Int {
        var offset = start
        while true {
            let length = Int(try await file.byte(at: offset))
            offset += 1 + length
            if length == 0 { return offset }
        }
    }
}
