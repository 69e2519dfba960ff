/// A chunk of a WebP: its type, its length and its contents, which a byte follows when their length is odd.
///
/// Source: Google, "WebP Container Specification" (RFC 9649, section 2.3).
struct RIFFChunk {
    let type: String
    /// From its type to the end of its contents.
    let range: Range<Int>
    /// Where the next one begins.
    let end: Int

    static let headBytes = 8

    var contents: Range<Int> { (range.lowerBound + Self.headBytes)..<range.upperBound }

    /// Reads the head of a chunk.
    ///
    /// - Throws: `NoImage` when the chunk does not end before the file or the chunk that has it. Only its last byte, which
    ///   has no meaning, may lack.
    static func read(at offset: Int, end: Int, of file: inout FileBytes) async throws -> RIFFChunk {
        guard end - offset >= headBytes else { throw NoImage() }
        let head = try await file.bytes(at: offset, count: headBytes)
        let length = head.littleEndian(at: 4, count: 4)
        let contentsEnd = offset + headBytes + length
        guard contentsEnd <= end else { throw NoImage() }
        return RIFFChunk(
            type: String(decoding: head.piece(at: 0, count: 4), as: UTF8.self),
            range: offset..<contentsEnd,
            end: min(contentsEnd + length % 2, end)
        )
    }
}

extension PieceList {
    /// Keeps a chunk, and makes the byte behind contents of an odd length 0.
    mutating func keep(_ chunk: RIFFChunk, of file: inout FileBytes) async throws {
        try keep(chunk.range)
        if chunk.contents.count % 2 == 1 {
            try await add([0], insteadOf: chunk.range.upperBound..<chunk.end, of: &file)
        }
    }
}
