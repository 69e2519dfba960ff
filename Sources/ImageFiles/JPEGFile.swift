/// Reads the size of a JPEG.
///
/// Source: ITU-T T.81, annex B: a file is a row of segments, each a marker, a length and its contents. The pixels follow the
/// frame's header, begin with a scan, and end with the marker EOI.
enum JPEGFile {
    static func size(_ file: inout FileBytes, mustBeWhole: Bool) async throws -> ImageSize {
        var offset = 2
        var isTurned = false
        var size: ImageSize?
        while true {
            guard try await file.byte(at: offset) == 0xFF else { throw NoImage() }
            let marker = try await file.byte(at: offset + 1)
            switch marker {
            case 0xFF:
                // A marker may have any number of these before it (B.1.1.2).
                offset += 1
                continue
            case startOfScan:
                guard let size else { throw NoImage() }
                if mustBeWhole { try await file.findEnding([0xFF, endOfImage], from: offset + 2) }
                return isTurned ? size.turned : size
            case _ where isFrame(marker):
                size = try await frame(&file, at: offset + 2)
            case 0, temporary, restarts, startOfImage, endOfImage:
                // What has no length.
                throw NoImage()
            default: break
            }
            let length = try await file.bytes(at: offset + 2, count: 2).bigEndian(at: 0, count: 2)
            guard length >= 2 else { throw NoImage() }
            if marker == app1, try await ExifOrientation.isTurned(&file, at: offset + 4, count: length - 2) {
                isTurned = true
            }
            offset += 2 + length
        }
    }

    /// A frame's header: length, precision, lines, samples of a line, components (B.2.2).
    private static func frame(_ file: inout FileBytes, at offset: Int) async throws -> ImageSize {
        let header = try await file.bytes(at: offset, count: 8)
        let (length, precision) = (header.bigEndian(at: 0, count: 2), header.bigEndian(at: 2, count: 1))
        let count = header.bigEndian(at: 7, count: 1)
        guard (2...16).contains(precision), (1...4).contains(count), length == 8 + 3 * count else { throw NoImage() }
        // Number of lines 0 means that a later segment has it, which decoders do not read either.
        let size = try ImageSize(width: header.bigEndian(at: 5, count: 2), height: header.bigEndian(at: 3, count: 2))
        // The components must be there, too.
        _ = try await file.bytes(at: offset, count: length)
        return size
    }

    /// The markers SOF0 to SOF15 (table B.1), between which others lie.
    private static func isFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
    }

    private static let temporary: UInt8 = 0x01
    private static let restarts: ClosedRange<UInt8> = 0xD0...0xD7
    private static let startOfImage: UInt8 = 0xD8
    private static let endOfImage: UInt8 = 0xD9
    private static let startOfScan: UInt8 = 0xDA
    private static let app1: UInt8 = 0xE1
}
