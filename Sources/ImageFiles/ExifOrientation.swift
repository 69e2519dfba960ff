/// Reads whether a camera was held upright.
///
/// Sources: Exif 2.32 (CIPA DC-008), section 4.5 and tag 274 of section 4.6.4; TIFF 6.0, section 2.
enum ExifOrientation {
    private static let prefix = "Exif\0\0"
    /// The tag's number.
    private static let orientation = 274
    /// The type of a number of 16 bits.
    private static let short = 3
    /// The bytes of an entry: tag, type, count, value.
    private static let entryBytes = 12

    /// Whether width and height are exchanged when the image is shown.
    ///
    /// Damaged metadata is ignored, and is no reason to refuse an image.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - offset: Where the contents of the segment APP1 begin.
    ///   - count: How many bytes they have.
    /// - Returns: Whether they are.
    /// - Throws: What reading the file throws.
    static func isTurned(_ file: inout FileBytes, at offset: Int, count: Int) async throws -> Bool {
        guard count >= prefix.utf8.count + 8 else { return false }
        let segment = try await file.bytes(at: offset, count: count)
        guard segment.has(prefix, at: 0) else { return false }
        let tiff = segment.dropFirst(prefix.utf8.count)
        let isBigEndian = tiff.has("MM", at: 0)
        guard isBigEndian || tiff.has("II", at: 0) else { return false }
        func number(at offset: Int, count: Int) -> Int? {
            guard offset + count <= tiff.count else { return nil }
            return isBigEndian ? tiff.bigEndian(at: offset, count: count) : tiff.littleEndian(at: offset, count: count)
        }
        guard let directory = number(at: 4, count: 4), let entryCount = number(at: directory, count: 2) else {
            return false
        }
        for index in 0..<entryCount {
            let entry = directory + 2 + index * entryBytes
            guard let tag = number(at: entry, count: 2), let value = number(at: entry + 8, count: 2) else {
                return false
            }
            if tag == orientation, number(at: entry + 2, count: 2) == short { return (5...8).contains(value) }
        }
        return false
    }
}
