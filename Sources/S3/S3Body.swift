import Crypto
package import NIOCore

/// The bytes of an object to put, which can be read again for every try.
package struct S3Body: Sendable {
    /// How many bytes the chunks make together.
    package let length: Int
    /// The SHA-256 of the bytes, 64 lower-case hexadecimal digits: the signature covers it.
    package let sha256Hex: String
    /// Begins to read from the first byte; called once for every try.
    package let makeChunks: @Sendable () -> any AsyncSequence<ByteBuffer, any Error> & Sendable

    /// Takes a body whose length and hash are known, as after spooling it.
    ///
    /// - Parameters:
    ///   - length: how many bytes the chunks make together.
    ///   - sha256Hex: their SHA-256, 64 lower-case hexadecimal digits.
    ///   - makeChunks: begins to read from the first byte; called once for every try. One chunk at a time is read,
    ///     the next when the socket takes more.
    package init(
        length: Int,
        sha256Hex: String,
        makeChunks: @escaping @Sendable () -> any AsyncSequence<ByteBuffer, any Error> & Sendable
    ) {
        self.length = length
        self.sha256Hex = sha256Hex
        self.makeChunks = makeChunks
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
            makeChunks: {
                AsyncThrowingStream { continuation in
                    continuation.yield(buffer)
                    continuation.finish()
                }
            }
        )
    }
}
