package import NIOCore
package import S3

/// The error that the operation throws; nil when it throws none.
///
/// - Parameter operation: What is to fail.
/// - Returns: Why it did.
package func failure(of operation: () async throws(S3Error) -> Void) async -> S3Error? {
    do {
        try await operation()
        return nil
    } catch {
        return error
    }
}

extension S3Body {
    /// A body that lies in memory.
    package init(_ text: String) {
        self.init(ByteBuffer(string: text))
    }

    /// So many bytes, made while they are read.
    ///
    /// - Parameters:
    ///   - length: How many.
    ///   - pause: Called before each piece of 256 KiB is given.
    /// - Returns: The body.
    package static func streamed(
        _ length: Int,
        pause: @escaping @Sendable () async throws -> Void = {}
    ) -> Self {
        let piece = 64 * 1024
        var digests = ObjectDigests()
        for offset in stride(from: 0, to: length, by: piece) {
            digests.update(pattern(offset..<min(offset + piece, length)))
        }
        return Self(length: length, sha256Hex: digests.sha256Hex, md5Hex: digests.md5Hex) { range in
            try await pause()
            return pattern(range)
        }
    }

    /// Bytes that identify their offset: each stretch of 4,096 is of another one.
    private static func pattern(_ range: Range<Int>) -> ByteBuffer {
        var bytes = ByteBuffer()
        while bytes.readableBytes < range.count {
            let (stretch, offset) = (range.lowerBound + bytes.readableBytes).quotientAndRemainder(dividingBy: 4_096)
            let count = min(4_096 - offset, range.count - bytes.readableBytes)
            bytes.writeRepeatingByte(UInt8(truncatingIfNeeded: stretch &* 31), count: count)
        }
        return bytes
    }
}

extension S3ByteStream {
    /// All bytes at once.
    ///
    /// - Returns: The object's.
    /// - Throws: As ``Iterator/next(isolation:)``.
    package func collect() async throws(S3Error) -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await var chunk in self { bytes.writeBuffer(&chunk) }
        return bytes
    }
}
