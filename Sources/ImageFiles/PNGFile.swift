import CZlib

/// Reads the size of a PNG.
///
/// A file has a signature, then a chunk `IHDR` of 13 bytes with its checksum. At its end is a chunk `IEND`, which is
/// always the same. Source: W3C, "Portable Network Graphics (PNG) Specification (Third Edition)", sections 5.2, 5.3,
/// 11.2.1, 11.2.4.
enum PNGFile {
    static func size(_ file: inout FileBytes, mustBeWhole: Bool) async throws -> ImageSize {
        let chunk = try await file.bytes(at: signatureBytes, count: 8 + headerBytes + 4)
        guard chunk.bigEndian(at: 0, count: 4) == headerBytes, chunk.has("IHDR", at: 4) else { throw NoImage() }
        let header = chunk.piece(at: 8, count: headerBytes)
        let (depth, color) = (header.bigEndian(at: 8, count: 1), header.bigEndian(at: 9, count: 1))
        let (compression, filter) = (header.bigEndian(at: 10, count: 1), header.bigEndian(at: 11, count: 1))
        let interlace = header.bigEndian(at: 12, count: 1)
        guard depths[color]?.contains(depth) == true, compression == 0, filter == 0, interlace <= 1,
            chunk.bigEndian(at: 8 + headerBytes, count: 4) == checksum(of: chunk.piece(at: 4, count: 4 + headerBytes))
        else { throw NoImage() }
        if mustBeWhole { try await file.findEnding(ending, from: headerEnd) }
        return try ImageSize(width: header.bigEndian(at: 0, count: 4), height: header.bigEndian(at: 4, count: 4))
    }

    private static let signatureBytes = 8
    private static let headerBytes = 13
    /// Where the first chunk ends.
    static let headerEnd = signatureBytes + 8 + headerBytes + 4
    /// The type of the last chunk, which has no contents, and its checksum.
    private static let ending: [UInt8] = Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]

    /// The bits of a sample that each type of color may have (table 11.1).
    private static let depths: [Int: Set<Int>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]

    /// The checksum of a chunk's type and contents (annex D).
    static func checksum(of bytes: ArraySlice<UInt8>) -> Int {
        var checksum = PNGChecksum()
        checksum.add(bytes)
        return checksum.value
    }
}

/// The checksum of bytes that come piece by piece: CRC-32, which zlib has.
struct PNGChecksum {
    private(set) var value = 0

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer { value = Int(crc32(UInt(value), $0.baseAddress, UInt32($0.count))) }
    }

    mutating func add(_ bytes: [UInt8]) { add(bytes[...]) }
}
