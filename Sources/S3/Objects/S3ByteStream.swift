import Curl
package import NIOCore

/// The bytes of an object as they arrive.
///
/// They can be read once.
///
/// The store is read only as fast as the chunks are taken. A slow reader does not count as the store's silence. An end
/// before the announced length throws.
package struct S3ByteStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = S3Error

    let body: ResponseBody

    /// Begins to read; only the first iterator gets bytes.
    ///
    /// - Returns: the iterator.
    package func makeAsyncIterator() -> Iterator {
        Iterator(chunks: body.makeAsyncIterator())
    }

    /// Reads chunk by chunk.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: ResponseBody.Iterator

        /// Waits for the next bytes.
        ///
        /// - Parameter actor: the caller's.
        /// - Returns: a chunk, never empty; nil at the end.
        /// - Throws: ``S3Error/unavailable(_:)`` when the connection breaks or stays silent for longer than
        ///   ``S3Deadlines/silence``, ``S3Error/cancelled``.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(S3Error) -> ByteBuffer? {
            do {
                return try await chunks.next(isolation: actor)
            } catch .cancelled {
                throw .cancelled
            } catch .silent {
                throw .unavailable(S3Failure(cause: S3NoAnswer.silent))
            } catch {
                throw .unavailable(S3Failure(cause: error))
            }
        }
    }
}
