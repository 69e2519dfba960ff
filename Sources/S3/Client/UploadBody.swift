import NIOCore

/// One try's body on its way out, read from the transfer piece by piece.
///
/// When the HTTP client asks for the next chunk, the socket has taken the one before.
struct UploadBody: AsyncSequence, Sendable {
    let length: Int
    let transfer: Transfer

    func makeAsyncIterator() -> Iterator {
        Iterator(length: length, transfer: transfer)
    }

    struct Iterator: AsyncIteratorProtocol {
        let length: Int
        let transfer: Transfer
        var offset = 0

        mutating func next() async throws -> ByteBuffer? {
            let range = offset..<Swift.min(offset + S3Body.chunkBytes, length)
            guard !range.isEmpty else {
                transfer.noteSignOfLife()
                try await transfer.waitForEndOfBody()
                return nil
            }
            offset = range.upperBound
            return try await transfer.readBody(range)
        }
    }
}
