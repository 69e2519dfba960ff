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
        var offset = screenBytes + colorTableBytes(flags)
        while true {
            switch try await file.byte(at: offset) {
            case extensionIntroducer:
                guard let end = try await endOfBlocks(&file, at: offset + 2) else { throw NoImage() }
                offset = end
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

    /// A table of colors: two to the power of the three lowest bits plus one, three bytes each.
    static func colorTableBytes(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 0x07 + 1) }

    /// Signature, width, height, flags, background, ratio of the sides.
    static let screenBytes = 13
    static let extensionIntroducer: UInt8 = 0x21
    static let imageSeparator: UInt8 = 0x2C

    /// Where a row of blocks ends; nil when the file ends before.
    ///
    /// Each block has its length in front, and the last has none. A step takes all blocks of a window: a picture of 100 MB
    /// has 400,000.
    static func endOfBlocks(_ file: inout FileBytes, at start: Int) async throws -> Int? {
        var offset = start
        while offset < file.length {
            let bytes = try await file.bytes(from: offset)
            var index = bytes.startIndex
            while index < bytes.endIndex {
                let length = Int(bytes[index])
                index += 1 + length
                if length == 0 { return offset + index - bytes.startIndex }
            }
            offset += index - bytes.startIndex
        }
        return nil
    }
}
