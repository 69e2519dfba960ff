import AsyncHTTPClient
package import NIOCore

/// The bytes of an object as they come; to be read once.
///
/// The store is read only as fast as the chunks are taken, and the time between taking two does not count as its
/// silence. An end that comes before the announced length throws.
package struct S3ByteStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = S3Error

    let body: HTTPClientResponse.Body
    let silence: Duration

    /// Begins to read; only the first iterator gets bytes.
    ///
    /// - Returns: the iterator.
    package func makeAsyncIterator() -> Iterator {
        Iterator(reader: Reader(body.makeAsyncIterator()), silence: silence)
    }

    /// Reads chunk by chunk.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader
        let silence: Duration

        /// Waits for the next bytes.
        ///
        /// - Parameter actor: the caller's.
        /// - Returns: a chunk, never empty; nil at the end.
        /// - Throws: ``S3Error/unavailable(_:)`` when the connection breaks or stays silent for longer than
        ///   ``S3Deadlines/silence``, ``S3Error/cancelled``.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(S3Error) -> ByteBuffer? {
            let reader = reader
            let silence = silence
            do {
                return try await Watchdog(silence: silence, end: .now + silence).run(Transfer()) {
                    try await reader.next()
                }
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .unavailable(S3Failure(cause: error))
            }
        }
    }
}

/// Owns the HTTP client's iterator, which must not change tasks, while each read runs under a watchdog's task.
private actor Reader {
    private var iterator: HTTPClientResponse.Body.AsyncIterator?

    init(_ iterator: sending HTTPClientResponse.Body.AsyncIterator) {
        self.iterator = iterator
    }

    func next() async throws -> ByteBuffer? {
        // Taken out for the time of the read: an iterator that threw is never asked again.
        guard var iterator = iterator.take() else { return nil }
        guard let chunk = try await iterator.next(isolation: self) else {
            // A cancelled read may look like an end; it must not pass for a whole object.
            try Task.checkCancellation()
            return nil
        }
        self.iterator = iterator
        return chunk
    }
}
