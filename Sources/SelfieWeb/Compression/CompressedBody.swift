import Budgets
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
    ///   - body: The body. It holds its share of a budget until the socket has accepted the last byte.
    ///   - channel: The connection.
    /// - Returns: The body as gzip.
    /// - Throws: `GzipStream.NoMemory`, or what writes the body throws.
    static func whole(_ body: ResponseBody, sentOn channel: any Channel) async throws -> ResponseBody {
        let collector = Collector()
        try await body.write(collector)
        let bytes = try GzipStream().add(collector.bytes, isLast: true)
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
    /// It holds the permit until the end.
    static func streamed(_ body: ResponseBody, holding permit: Permit<Bool>) -> ResponseBody {
        ResponseBody { writer in
            try await body.write(writer.compressing(with: GzipStream()))
            withExtendedLifetime(permit) {}
        }
    }

    /// Takes a body into memory.
    private final class Collector: ResponseBodyWriter {
        private let collected = Mutex(ByteBuffer())

        var bytes: ByteBuffer { collected.withLock { $0 } }

        @concurrent
        func write(_ buffer: ByteBuffer) async throws { _ = collected.withLock { $0.writeImmutableBuffer(buffer) } }

        @concurrent
        consuming func finish(_ trailers: HTTPFields?) async throws {}
    }

    /// Compresses what it passes on.
    fileprivate struct Writer<Parent: ResponseBodyWriter>: ResponseBodyWriter {
        var parent: Parent
        let stream: GzipStream

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
    fileprivate consuming func compressing(with stream: GzipStream) -> some ResponseBodyWriter {
        CompressedBody.Writer(parent: self, stream: stream)
    }
}
