/// A picture of an animated WebP.
///
/// Source: Google, "WebP Container Specification" (RFC 9649, section 2.7.1.1).
enum WebPFrame {
    /// Place, size, duration and flags.
    private static let headerBytes = 16
    /// How a picture replaces the last one; the other bits are reserved.
    private static let flags: UInt8 = 0x03

    /// Keeps a picture without chunks that are unknown.
    static func strip(_ frame: RIFFChunk, of file: inout FileBytes, into pieces: inout PieceList) async throws {
        let contents = frame.contents
        guard contents.count >= headerBytes else { throw NoImage() }
        let header = contents.lowerBound..<(contents.lowerBound + headerBytes)
        var chunks = PieceList()
        var types: [String] = []
        var offset = header.upperBound
        while offset < contents.upperBound {
            let chunk = try await RIFFChunk.read(at: offset, end: contents.upperBound, of: &file)
            offset = chunk.end
            guard ["ALPH", "VP8 ", "VP8L"].contains(chunk.type) else { continue }
            guard !types.contains(chunk.type) else { throw NoImage() }
            types.append(chunk.type)
            try await chunks.keep(chunk, of: &file)
        }
        guard types.count(where: { $0 != "ALPH" }) == 1 else { throw NoImage() }

        let lengthAt = frame.range.lowerBound + 4
        let flagsAt = header.upperBound - 1
        let count = headerBytes + chunks.byteCount
        try pieces.keep(frame.range.lowerBound..<lengthAt)
        try await pieces.add(count.littleEndianBytes(4), insteadOf: lengthAt..<header.lowerBound, of: &file)
        try pieces.keep(header.lowerBound..<flagsAt)
        let kept = try await file.byte(at: flagsAt) & flags
        try await pieces.add([kept], insteadOf: flagsAt..<header.upperBound, of: &file)
        try pieces.add(chunks)
    }
}
