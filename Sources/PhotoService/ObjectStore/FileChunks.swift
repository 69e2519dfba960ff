import NIOCore
import NIOPosix

/// The bytes of a file in pieces, each read when it is asked for, on a thread that may block.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    typealias Failure = any Error

    /// Large enough to keep a disk busy, small enough to hold one for each of many clients.
    static let chunkBytes = 128 * 1024

    let file: PosixFile
    let length: Int

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(file: file, length: length)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let file: PosixFile
        fileprivate let length: Int
        private var offset = 0

        fileprivate init(file: PosixFile, length: Int) {
            self.file = file
            self.length = length
        }

        mutating func next() async throws -> ByteBuffer? {
            let count = Swift.min(FileChunks.chunkBytes, length - offset)
            guard count > 0 else { return nil }
            let chunk = try await NIOThreadPool.singleton.runIfActive { [file, offset] in
                var buffer = ByteBufferAllocator().buffer(capacity: count)
                _ = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                    try file.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]), at: offset)
                }
                return buffer
            }
            guard chunk.readableBytes == count else { throw FileEndedEarly() }
            offset += count
            return chunk
        }
    }
}

/// A file that is shorter than it was when it was opened.
struct FileEndedEarly: Error {}

/// An object that lies in a file.
struct ObjectFile: Sendable {
    let file: PosixFile
    let length: Int
    /// The first bytes, to tell the format of a photo that came without one.
    let leadingBytes: [UInt8]

    var chunks: FileChunks { FileChunks(file: file, length: length) }
}
