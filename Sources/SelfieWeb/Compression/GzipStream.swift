import CZlib
import NIOCore
import Synchronization

/// Compresses bytes as they come, in the format of RFC 1952.
///
/// It takes about 100 KiB of memory. Several threads may use it, one after another.
final class GzipStream: Sendable {
    private let stream: Mutex<UnsafeMutablePointer<z_stream>>

    /// The fastest: JSON becomes about as small with others, and takes twice as long.
    private static let level: Int32 = 1
    /// 8 KiB of window, and 16 for gzip's header (zlib manual, `deflateInit2`).
    private static let windowBits: Int32 = 13 + 16
    private static let memoryLevel: Int32 = 7

    /// There is no memory for a stream.
    struct NoMemory: Error {}

    init() throws(NoMemory) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard selfie_deflateInit2(stream, Self.level, Self.windowBits, Self.memoryLevel) == Z_OK else {
            stream.deallocate()
            throw NoMemory()
        }
        self.stream = Mutex(stream)
    }

    deinit {
        stream.withLock { stream in
            deflateEnd(stream)
            stream.deallocate()
        }
    }

    /// Takes some bytes.
    ///
    /// - Parameters:
    ///   - bytes: The next bytes.
    ///   - isLast: Whether none follow. Nothing may be added afterwards.
    /// - Returns: What is ready to be sent, which may be nothing.
    func add(_ bytes: ByteBuffer, isLast: Bool) -> ByteBuffer {
        stream.withLock { stream in
            var output = ByteBuffer()
            bytes.withUnsafeReadableBytes { input in
                // zlib only reads them.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
                stream.pointee.avail_in = uInt(input.count)
                let chunkBytes = max(1_024, Int(deflateBound(stream, uLong(input.count))))
                repeat {
                    output.writeWithUnsafeMutableBytes(minimumWritableBytes: chunkBytes) { room in
                        stream.pointee.next_out = room.bindMemory(to: Bytef.self).baseAddress
                        stream.pointee.avail_out = uInt(room.count)
                        deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                        return room.count - Int(stream.pointee.avail_out)
                    }
                } while stream.pointee.avail_out == 0
            }
            return output
        }
    }
}
