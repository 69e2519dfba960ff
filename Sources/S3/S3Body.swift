import Crypto
package import NIOCore

/// The bytes of an object to put, which can be read again for every try.
package struct S3Body: Sendable {
    /// How many bytes there are.
    package let length: Int
    /// The SHA-256 of the bytes, 64 lower-case hexadecimal digits: the signature covers it.
    package let sha256Hex: String
    /// Reads the bytes of a range within `0..<length`, all of them.
    package let read: @Sendable (Range<Int>) async throws -> ByteBuffer

    /// Takes a body whose length and hash are known, as after spooling it.
    ///
    /// - Parameters:
    ///   - length: how many bytes there are.
    ///   - sha256Hex: their SHA-256, 64 lower-case hexadecimal digits.
    ///   - read: reads the bytes of a range, all of them. One range at a time is read, the next when the socket takes
    ///     more, and each again for every try.
    package init(
        length: Int,
        sha256Hex: String,
        read: @escaping @Sendable (Range<Int>) async throws -> ByteBuffer
    ) {
        self.length = length
        self.sha256Hex = sha256Hex
        self.read = read
    }

    /// Takes a body that is small enough to lie in memory, and hashes it.
    ///
    /// - Parameter buffer: the bytes.
    package init(_ buffer: ByteBuffer) {
        var hash = SHA256()
        buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        self.init(
            length: buffer.readableBytes,
            sha256Hex: hash.finalize().hexadecimal,
            read: { buffer.getSlice(at: buffer.readerIndex + $0.lowerBound, length: $0.count) ?? ByteBuffer() }
        )
    }
}
