import Hummingbird
import Multipart
import NIOCore

/// A multipart body as it arrives.
///
/// Each element is an event, with the bytes of its contents.
///
/// It reads only when the consumer asks, so a slow consumer slows the client down.
struct MultipartSequence: AsyncSequence {
    enum Element {
        case partBegin(MultipartPart)
        case partBytes(ByteBuffer)
        case partEnd
    }

    let body: RequestBody
    /// The most bytes of a body without `Content-Length`.
    let maxBytes: Int
    /// The refusal of a body that has more.
    let tooLarge: ServiceError
    let boundary: MultipartBoundary
    let limits: MultipartLimits

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            body: body.makeAsyncIterator(),
            bytesLeft: maxBytes,
            tooLarge: tooLarge,
            parser: MultipartParser(boundary: boundary, limits: limits)
        )
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var body: RequestBody.AsyncIterator
        fileprivate var bytesLeft: Int
        private let tooLarge: ServiceError
        fileprivate var parser: MultipartParser
        private var chunk = ByteBuffer()
        private var events: [MultipartEvent] = []
        private var position = 0
        /// Thrown after the events before it were consumed.
        private var failure: MultipartError?

        fileprivate init(
            body: RequestBody.AsyncIterator,
            bytesLeft: Int,
            tooLarge: ServiceError,
            parser: MultipartParser
        ) {
            self.body = body
            self.bytesLeft = bytesLeft
            self.tooLarge = tooLarge
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
            if let failure { throw failure }
            // The next one may be long in coming, and the connection reads it into the same memory.
            chunk = ByteBuffer()
            guard let next = try await body.next() else {
                try parser.finish()
                return false
            }
            bytesLeft -= next.readableBytes
            guard bytesLeft >= 0 else { throw tooLarge }
            chunk = next
            do throws(MultipartError) {
                try parser.push(next.readableBytesSpan, into: &events)
            } catch {
                failure = error
            }
            return true
        }

        private func slice(_ range: Range<Int>) -> ByteBuffer {
            chunk.getSlice(at: chunk.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
        }
    }
}
