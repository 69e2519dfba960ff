/// Reads the size of a WebP, of any of its three kinds.
///
/// Sources: Google, "WebP Container Specification" (RFC 9649, section 2); RFC 6386, section 9.1, for lossy pixels; "WebP
/// Lossless Bitstream Specification" (RFC 9649, section 3.4).
enum WebPFile {
    static func size(_ file: inout FileBytes, mustBeWhole: Bool) async throws -> ImageSize {
        // The length of all that follows it. Other bytes may come behind.
        let fileLength = try await file.bytes(at: 4, count: 4).littleEndian(at: 0, count: 4)
        guard fileLength <= file.length - 8 || !mustBeWhole else { throw NoImage() }
        let head = try await file.bytes(at: 12, count: 8)
        let length = head.littleEndian(at: 4, count: 4)
        let count = head.has("VP8L", at: 0) ? 5 : 10
        guard length >= count else { throw NoImage() }
        let bytes = try await file.bytes(at: 20, count: count)
        if head.has("VP8 ", at: 0) { return try lossy(bytes) }
        if head.has("VP8L", at: 0) { return try lossless(bytes) }
        if head.has("VP8X", at: 0) { return try extended(bytes) }
        throw NoImage()
    }

    /// A frame's tag with 0 for a key frame in its lowest bit, the start code, and two numbers of 14 bits.
    private static func lossy(_ bytes: ArraySlice<UInt8>) throws(NoImage) -> ImageSize {
        guard bytes.littleEndian(at: 0, count: 1) & 1 == 0, bytes.bigEndian(at: 3, count: 3) == 0x9D012A else {
            throw NoImage()
        }
        return try ImageSize(
            width: bytes.littleEndian(at: 6, count: 2) & 0x3FFF,
            height: bytes.littleEndian(at: 8, count: 2) & 0x3FFF
        )
    }

    /// A signature, then two numbers of 14 bits that are one too small, a flag, and a version of three bits, which is 0.
    private static func lossless(_ bytes: ArraySlice<UInt8>) throws(NoImage) -> ImageSize {
        let bits = bytes.littleEndian(at: 1, count: 4)
        guard bytes.bigEndian(at: 0, count: 1) == 0x2F, bits >> 29 == 0 else { throw NoImage() }
        return try ImageSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    }

    /// Flags, three bytes that are reserved, and two numbers of 24 bits that are one too small.
    private static func extended(_ bytes: ArraySlice<UInt8>) throws(NoImage) -> ImageSize {
        try ImageSize(width: bytes.littleEndian(at: 4, count: 3) + 1, height: bytes.littleEndian(at: 7, count: 3) + 1)
    }
}
