import Budgets
import Gzip
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import Synchronization

/// Bodies as gzip.
enum CompressedBody {
    /// A small body, at once.
    ///
    /// - Parameters:
    ///   - body: The body. What it holds of a budget, it holds until the socket has taken the last byte.
    ///   - channel: The connection.
    /// - Returns: The body as gzip.
    /// - Throws: ``NoMemory``, or what writes the body throws.
    static func whole(_ body: ResponseBody, sentOn channel: any Channel) async throws -> ResponseBody {
        let collected = CollectedBytes()
        try await body.write(Collector(collected: collected))
        let bytes = try SharedStream().add(collected.bytes, isLast: true)
        let isShared = body.contentLength ?? .max > AnswerMemory.maxUnsharedBytes
        return isShared ? ResponseBody([bytes], holding: body, sentOn: channel) : ResponseBody(byteBuffer: bytes)
    }

    /// Threads of their own, so that lists take none from uploads and photos.
    fileprivate static let threads = {
        let threads = NIOThreadPool(numberOfThreads: GzipMiddleware.maxLarge)
        threads.start()
        return threads
    }()

    /// A large body, piece by piece, on threads that may be busy.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - place: Held until the end.
    /// - Returns: The body as gzip.
    static func streamed(_ body: ResponseBody, holding place: Place) -> ResponseBody {
        ResponseBody { writer in
            try await body.write(writer.compressing(with: SharedStream()))
            withExtendedLifetime(place) {}
        }
    }

    /// Why a body could not be compressed.
    struct NoMemory: Error {}

    /// A stream that several threads use, one after another.
    fileprivate final class SharedStream: Sendable {
        private let stream: Mutex<GzipStream>

        init() throws {
            guard let stream = GzipStream() else { throw NoMemory() }
            self.stream = Mutex(stream)
        }

        func add(_ bytes: ByteBuffer, isLast: Bool) -> ByteBuffer {
            stream.withLock { $0.add(bytes, isLast: isLast) }
        }
    }

    fileprivate final class CollectedBytes: Sendable {
        private let collected = Mutex(ByteBuffer())

        var bytes: ByteBuffer { collected.withLock { $0 } }

        func add(_ bytes: ByteBuffer) {
            _ = collected.withLock { $0.writeImmutableBuffer(bytes) }
        }
    }

    /// Takes a body into memory.
    private struct Collector: ResponseBodyWriter {
        let collected: CollectedBytes

        @concurrent
        mutating func write(_ buffer: ByteBuffer) async throws { collected.add(buffer) }

        @concurrent
        consuming func finish(_ trailers: HTTPFields?) async throws {}
    }

    /// Compresses what it hands on.
    fileprivate struct Writer<Parent: ResponseBodyWriter>: ResponseBodyWriter {
        var parent: Parent
        let stream: SharedStream

        @concurrent
        mutating func write(_ buffer: ByteBuffer) async throws {
            let bytes = try await CompressedBody.threads.runIfActive { [stream] in stream.add(buffer, isLast: false) }
            if bytes.readableBytes > 0 { try await parent.write(bytes) }
        }

        @concurrent
        consuming func finish(_ trailers: HTTPFields?) async throws {
            try await parent.write(stream.add(ByteBuffer(), isLast: true))
            try await parent.finish(trailers)
        }
    }
}

extension ResponseBodyWriter {
    fileprivate consuming func compressing(with stream: CompressedBody.SharedStream) -> some ResponseBodyWriter {
        CompressedBody.Writer(parent: self, stream: stream)
    }
}
