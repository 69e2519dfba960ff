package import NIOCore

/// The bytes of an answer as they arrive.
///
/// They can be read once, by one task. The peer is read only as fast as they are taken. Once the closure of
/// ``CurlClient/perform(_:deadlines:clock:_:)`` has returned, a slow reader does not count as the peer's silence. An end
/// before the announced length throws.
package struct ResponseBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = CurlError

    /// Ends the transfer when nobody can read it any more.
    final class Reference: Sendable {
        let transfer: Transfer
        let client: CurlClient

        init(transfer: Transfer, client: CurlClient) { (self.transfer, self.client) = (transfer, client) }

        deinit {
            if !transfer.isComplete { client.end(transfer) }
        }
    }

    let reference: Reference

    /// Begins to read; only the first iterator gets bytes.
    package func makeAsyncIterator() -> Iterator { Iterator(reference: reference) }

    /// Reads piece by piece.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let reference: Reference

        /// Waits for the next bytes.
        ///
        /// - Returns: A piece, never empty; nil at the end.
        /// - Throws: ``CurlError/silent``, ``CurlError/cutOff``, ``CurlError/cancelled`` or ``CurlError/other(_:)``.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(CurlError) -> ByteBuffer? {
            guard let (bytes, mustResume) = try await reference.transfer.awaitBytes() else { return nil }
            if mustResume { await reference.client.resume(reference.transfer) }
            return bytes
        }
    }
}

extension ResponseBody {
    /// Reads all bytes.
    ///
    /// - Parameter maxBytes: The most that there may be.
    /// - Returns: The bytes.
    /// - Throws: ``CurlError/tooLarge``, or what reading throws.
    package func collect(upTo maxBytes: Int) async throws(CurlError) -> ByteBuffer {
        var bytes = ByteBuffer()
        var pieces = makeAsyncIterator()
        while var piece = try await pieces.next(isolation: nil) {
            guard bytes.readableBytes + piece.readableBytes <= maxBytes else { throw .tooLarge }
            bytes.writeBuffer(&piece)
        }
        return bytes
    }
}
