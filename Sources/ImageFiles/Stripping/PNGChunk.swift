/// A chunk of a PNG: length, type, contents, checksum.
///
/// Source: W3C, "Portable Network Graphics (PNG) Specification (Third Edition)", sections 5.3 and 5.4.
struct PNGChunk {
    let type: String
    /// Where the whole chunk is.
    let range: Range<Int>

    /// The most bytes of a chunk's contents.
    static let maxContentsBytes = Int(Int32.max)
    /// Length and type.
    static let headBytes = 8
    static let checksumBytes = 4

    /// Reads the head of a chunk.
    ///
    /// - Throws: `NoImage` when the chunk is not whole, or its type has others than letters.
    static func read(at offset: Int, of file: inout FileBytes) async throws -> PNGChunk {
        let head = try await file.bytes(at: offset, count: headBytes)
        let length = head.bigEndian(at: 0, count: 4)
        let end = offset + headBytes + length + checksumBytes
        let type = head.piece(at: 4, count: 4)
        guard length <= maxContentsBytes, end <= file.length,
            type.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) && $0 & 0x40 != 0 })
        else { throw NoImage() }
        return PNGChunk(type: String(decoding: type, as: UTF8.self), range: offset..<end)
    }

    var contents: Range<Int> {
        (range.lowerBound + Self.headBytes)..<(range.upperBound - Self.checksumBytes)
    }

    /// Whether decoders need not know it: its first letter is small.
    var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }

    /// A chunk's length and type.
    static func head(_ type: String, count: Int) -> [UInt8] { count.bigEndianBytes(4) + Array(type.utf8) }

    /// A whole chunk.
    static func bytes(_ type: String, _ contents: [UInt8]) -> [UInt8] {
        var checksum = PNGChecksum()
        checksum.add(Array(type.utf8) + contents)
        return head(type, count: contents.count) + contents + checksum.value.bigEndianBytes(checksumBytes)
    }
}

/// A chunk with a profile of colors, whose name may be anything.
///
/// The name becomes ``name``, which takes a new checksum. So the profile is read through. What lies behind it in its chunk
/// stays: where its compressed bytes end is not looked for.
///
/// Source: W3C, "Portable Network Graphics (PNG) Specification (Third Edition)", section 11.3.2.3.
enum ICCChunk {
    static let name = "ICC"
    /// The most bytes of the chunk's contents: a file with more is refused.
    ///
    /// The profiles of screens and cameras have some KiB, those of printers up to 3 MiB.
    static let maxContentsBytes = 4 * 1024 * 1024
    /// The most bytes of a name.
    private static let maxNameBytes = 79

    /// Keeps the chunk with its new name, unless its checksum is wrong: then decoders pass over it.
    static func keep(_ chunk: PNGChunk, of file: inout FileBytes, in pieces: inout PieceList) async throws {
        let contents = chunk.contents
        guard contents.count <= maxContentsBytes else { throw NoImage() }
        let head = try await file.bytes(at: contents.lowerBound, count: min(contents.count, maxNameBytes + 1))
        // Without a name or its end, decoders pass over the chunk.
        guard let end = head.firstIndex(of: 0), end > head.startIndex else { return }
        let nameEnd = contents.lowerBound + (end - head.startIndex)
        let oldName = Array(head[..<end])
        let newName = Array(name.utf8)

        var (old, new) = (PNGChecksum(), PNGChecksum())
        old.add(Array(chunk.type.utf8) + oldName)
        new.add(Array(chunk.type.utf8) + newName)
        var offset = nameEnd
        while offset < contents.upperBound {
            let bytes = try await file.bytes(
                at: offset,
                count: min(FileBytes.maxPieceBytes, contents.upperBound - offset)
            )
            old.add(bytes)
            new.add(bytes)
            offset += bytes.count
        }
        let checksum = try await file.bytes(at: contents.upperBound, count: PNGChunk.checksumBytes)
        guard checksum.bigEndian(at: 0, count: PNGChunk.checksumBytes) == old.value else { return }
        if oldName == newName { return try pieces.keep(chunk.range) }
        let count = newName.count + contents.upperBound - nameEnd
        try pieces.add(PNGChunk.head(chunk.type, count: count) + newName)
        try pieces.keep(nameEnd..<contents.upperBound)
        try pieces.add(new.value.bigEndianBytes(PNGChunk.checksumBytes))
    }
}
