/// How a camera was held: the number that says how an image is to be turned, 1 to 8.
///
/// Sources: Exif 2.32 (CIPA DC-008), section 4.5 and tag 274 of section 4.6.4; TIFF 6.0, section 2.
enum ExifOrientation {
    /// What a JPEG's segment begins with, and other formats' chunks of some programs, too.
    private static let prefix = "Exif\0\0"
    /// What follows the order of bytes.
    private static let magic = 42
    /// The tag's number.
    private static let orientation = 274
    /// The type of a number of 16 bits.
    private static let short = 3
    /// The bytes of an entry: tag, type, count, value.
    private static let entryBytes = 12

    /// The number of an image that is shown as it is.
    static let upright = 1

    /// Whether width and height are exchanged when the image is shown.
    static func isTurned(_ orientation: Int) -> Bool { (5...8).contains(orientation) }

    /// The orientation that a JPEG's segment APP1 says.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - contents: Where the segment's contents are.
    /// - Returns: The orientation; nil when the segment has no Exif.
    /// - Throws: What reading the file throws.
    static func ofSegment(_ file: inout FileBytes, in contents: Range<Int>) async throws -> Int? {
        guard contents.count >= prefix.utf8.count + 8 else { return nil }
        let segment = try await file.bytes(at: contents.lowerBound, count: contents.count)
        return segment.has(prefix, at: 0) ? ofTIFF(segment.dropFirst(prefix.utf8.count)) : nil
    }

    /// The orientation that a chunk of Exif says, with or without the prefix of JPEGs.
    ///
    /// Of a long chunk, the first 64 KiB are read: the tag is among the first ones.
    static func ofChunk(_ file: inout FileBytes, in contents: Range<Int>) async throws -> Int {
        let count = min(contents.count, FileBytes.maxPieceBytes)
        let bytes = try await file.bytes(at: contents.lowerBound, count: count)
        return ofTIFF(bytes.has(prefix, at: 0) ? bytes.dropFirst(prefix.utf8.count) : bytes)
    }

    /// Damaged metadata is ignored, and is no reason to refuse an image.
    private static func ofTIFF(_ tiff: ArraySlice<UInt8>) -> Int {
        let isBigEndian = tiff.has("MM", at: 0)
        guard isBigEndian || tiff.has("II", at: 0) else { return upright }
        func number(at offset: Int, count: Int) -> Int? {
            guard offset + count <= tiff.count else { return nil }
            return isBigEndian ? tiff.bigEndian(at: offset, count: count) : tiff.littleEndian(at: offset, count: count)
        }
        guard number(at: 2, count: 2) == magic, let directory = number(at: 4, count: 4),
            let entryCount = number(at: directory, count: 2)
        else {
            return upright
        }
        for index in 0..<entryCount {
            let entry = directory + 2 + index * entryBytes
            guard let tag = number(at: entry, count: 2), let value = number(at: entry + 8, count: 2) else {
                return upright
            }
            // Decoders pass over an entry of several values.
            if tag == orientation, number(at: entry + 2, count: 2) == short, number(at: entry + 4, count: 4) == 1 {
                return (1...8).contains(value) ? value : upright
            }
        }
        return upright
    }

    /// A header, and a directory whose only entry says an orientation.
    static func tiff(_ orientation: Int) -> [UInt8] {
        // The byte order, 42, the directory's offset; the count of entries; tag, type, count, value; no other directory.
        [0x4D, 0x4D, 0, 42, 0, 0, 0, 8] + [0, 1] + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0]
            + [0, 0, 0, 0]
    }

    /// The contents of a JPEG's segment APP1 that says nothing but an orientation.
    static func segment(_ orientation: Int) -> [UInt8] { Array(prefix.utf8) + tiff(orientation) }
}
