import Hummingbird
import Multipart
import NIOCore

/// A multipart body as it arrives: each element is an event and, where it has contents, their bytes.
///
/// Reading is driven by the consumer, so a slow one slows the client down.
struct MultipartSequence: AsyncSequence {
    enum Element {
        case partBegin(MultipartPart)
        case partBytes(ByteBuffer)
        case partEnd
    }

    let body: RequestBody
    /// The most bytes of the whole body, for one that does not say its length.
    let bytesMax: Int
    let boundary: MultipartBoundary
    let limits: MultipartLimits

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            body: body.makeAsyncIterator(),
            bytesLeft: bytesMax,
            parser: MultipartParser(boundary: boundary, limits: limits)
        )
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var body: RequestBody.AsyncIterator
        fileprivate var bytesLeft: Int
        fileprivate var parser: MultipartParser
        private var chunk = ByteBuffer()
        private var events: [MultipartEvent] = []
        private var position = 0

        fileprivate init(body: RequestBody.AsyncIterator, bytesLeft: Int, parser: MultipartParser) {
            self.body = body
            self.bytesLeft = bytesLeft
            self.parser = parser
        }

        @concurrent
        mutating func next() async throws -> Element? {
            while position == events.count {
                guard try await readChunk() else { return nil }
            }
            defer { position += 1 }
            return switch events[position] {
            case .partBegin(let part): .partBegin(part)
            case .partBytes(let range): .partBytes(slice(range))
            case .heldBytes(let bytes): .partBytes(ByteBuffer(bytes: bytes))
            case .partEnd: .partEnd
            }
        }

        @concurrent
        private mutating func readChunk() async throws -> Bool {
            events.removeAll(keepingCapacity: true)
            position = 0
            guard let next = try await body.next() else {
                try parser.finish()
                return false
            }
            bytesLeft -= next.readableBytes
            guard bytesLeft >= 0 else { throw ServiceError.bodyTooLarge }
            try parser.push(next.readableBytesSpan, into: &events)
            chunk = next
            return true
        }

        private func slice(_ range: Range<Int>) -> ByteBuffer {
            chunk.getSlice(at: chunk.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
        }
    }
}
