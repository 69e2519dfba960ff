import NIOCore

/// The chunks of one try's body on their way out.
///
/// That the HTTP client asks for the next chunk is the sign that the socket took the one before.
struct UploadBody<Chunks: AsyncSequence & Sendable>: AsyncSequence, Sendable where Chunks.Element == ByteBuffer {
    let chunks: Chunks
    let transfer: Transfer

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: chunks.makeAsyncIterator(), transfer: transfer)
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: Chunks.AsyncIterator
        let transfer: Transfer

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            do {
                let chunk = try await chunks.next(isolation: actor)
                transfer.noteSignOfLife()
                return chunk
            } catch {
                transfer.noteSourceFailed(error)
                throw error
            }
        }
    }
}
