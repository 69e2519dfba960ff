package import NIOCore
import NIOPosix

extension PosixFile {
    /// Reads the bytes of a range, on a thread that may block.
    ///
    /// - Throws: `PosixFileError`, or ``FileEndedEarly``.
    package func bytes(in range: Range<Int>) async throws -> ByteBuffer {
        try await NIOThreadPool.singleton.runIfActive { [self] in
            var buffer = ByteBufferAllocator().buffer(capacity: range.count)
            let count = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) { bytes in
                try read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<range.count]), at: range.lowerBound)
            }
            guard count == range.count else { throw FileEndedEarly() }
            return buffer
        }
    }

    /// Has the system read a range into its memory, on a thread that may block.
    ///
    /// - Throws: `PosixFileError`, or ``FileEndedEarly``.
    package func bringIntoMemory(_ range: Range<Int>) async throws {
        // The copy costs little beside the disk that it waits for.
        _ = try await bytes(in: range)
    }
}

/// A file that is shorter than it was when it was opened.
package struct FileEndedEarly: Error {
    /// Names no file.
    package init() {}
}
