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
            let chunk = try await file.bytes(in: offset..<offset + count)
            offset += count
            return chunk
        }
    }
}

extension PosixFile {
    /// Reads the bytes of a range, on a thread that may block.
    ///
    /// - Throws: `PosixFileError`, or ``FileEndedEarly``.
    func bytes(in range: Range<Int>) async throws -> ByteBuffer {
        try await NIOThreadPool.singleton.runIfActive { [self] in
            var buffer = ByteBufferAllocator().buffer(capacity: range.count)
            let count = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) { bytes in
                try read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<range.count]), at: range.lowerBound)
            }
            guard count == range.count else { throw FileEndedEarly() }
            return buffer
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
