import NIOCore

/// An attempt's body on its way out, piece by piece.
///
/// When the HTTP client asks for the next chunk, the socket has taken the one before.
struct UploadBody: AsyncSequence, Sendable {
    let length: Int
    let attempt: Attempt

    func makeAsyncIterator() -> Iterator {
        Iterator(length: length, attempt: attempt)
    }

    struct Iterator: AsyncIteratorProtocol {
        let length: Int
        let attempt: Attempt
        var offset = 0

        mutating func next() async throws -> ByteBuffer? {
            let range = offset..<Swift.min(offset + S3Body.chunkBytes, length)
            guard !range.isEmpty else {
                attempt.noteSignOfLife()
                try await attempt.waitForEndOfBody()
                return nil
            }
            offset = range.upperBound
            return try await attempt.readBody(range)
        }
    }
}
