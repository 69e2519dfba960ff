import Curl
import NIOCore

/// An attempt's body on its way out, piece by piece.
struct UploadBody: AsyncSequence, Sendable {
    let body: S3Body

    func makeAsyncIterator() -> Iterator { Iterator(body: body) }

    struct Iterator: AsyncIteratorProtocol {
        let body: S3Body
        private var offset = 0

        init(body: S3Body) { self.body = body }

        /// - Throws: The source's error, or ``S3BodyLengthMismatch``.
        mutating func next() async throws -> ByteBuffer? {
            let range = offset..<Swift.min(offset + S3Body.chunkBytes, body.length)
            guard !range.isEmpty else { return nil }
            offset = range.upperBound
            let bytes = try await body.read(range)
            guard bytes.readableBytes == range.count else { throw S3BodyLengthMismatch() }
            return bytes
        }
    }
}
