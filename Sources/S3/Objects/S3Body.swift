import FoundationEssentials
package import NIOCore

/// The bytes of an object to put, which can be read again for every attempt.
package struct S3Body: Sendable {
    /// How many bytes there are.
    package let length: Int
    /// The SHA-256 of the bytes, 64 lower-case hexadecimal digits: the signature covers it.
    package let sha256Hex: String
    /// The MD5 of the bytes, 32 lower-case hexadecimal digits.
    ///
    /// Most stores use it as the entity tag.
    package let md5Hex: String
    /// Reads the bytes of a range within `0..<length`, all of them.
    package let read: @Sendable (Range<Int>) async throws -> ByteBuffer

    /// How many bytes are read at a time.
    ///
    /// That is enough to keep a disk and a socket busy, and few enough to hold them for each of many uploads.
    static let chunkBytes = 256 * 1024

    /// Takes a body whose length and digests are known.
    ///
    /// - Parameters:
    ///   - length: how many bytes there are.
    ///   - sha256Hex: their SHA-256, 64 lower-case hexadecimal digits.
    ///   - md5Hex: their MD5, 32 lower-case hexadecimal digits.
    ///   - read: reads the bytes of a range, all of them. Each part reads one range at a time, and the next when the
    ///     socket takes more. Every attempt reads all of them again.
    package init(
        length: Int,
        sha256Hex: String,
        md5Hex: String,
        read: @escaping @Sendable (Range<Int>) async throws -> ByteBuffer
    ) {
        self.length = length
        self.sha256Hex = sha256Hex
        self.md5Hex = md5Hex
        self.read = read
    }

    /// Takes a body that is small enough to lie in memory, and hashes it.
    ///
    /// - Parameter buffer: the bytes.
    package init(_ buffer: ByteBuffer) {
        var digests = ObjectDigests()
        digests.update(buffer)
        self.init(
            length: buffer.readableBytes,
            sha256Hex: digests.sha256Hex,
            md5Hex: digests.md5Hex,
            read: { buffer.getSlice(at: buffer.readerIndex + $0.lowerBound, length: $0.count) ?? ByteBuffer() }
        )
    }

    /// The MD5 as `Content-MD5` spells it (RFC 1864).
    var md5Base64: String { Data(EntityTag.bytes(hexadecimal: md5Hex)).base64EncodedString() }

    /// A part as a body of its own.
    ///
    /// Its bytes are read once to hash them.
    ///
    /// - Parameter range: within `0..<length`.
    /// - Returns: the part.
    /// - Throws: what reading throws, or ``S3BodyLengthMismatch``.
    func part(_ range: Range<Int>) async throws -> S3Body {
        var digests = ObjectDigests()
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.chunkBytes) {
            let piece = start..<min(start + Self.chunkBytes, range.upperBound)
            let bytes = try await read(piece)
            guard bytes.readableBytes == piece.count else { throw S3BodyLengthMismatch() }
            digests.update(bytes)
        }
        let read = read
        return S3Body(length: range.count, sha256Hex: digests.sha256Hex, md5Hex: digests.md5Hex) { piece in
            try await read(range.lowerBound + piece.lowerBound..<range.lowerBound + piece.upperBound)
        }
    }
}

/// A body returned fewer or more bytes than were requested.
struct S3BodyLengthMismatch: Error {}
