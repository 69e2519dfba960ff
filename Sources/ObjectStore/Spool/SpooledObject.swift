import LinuxFiles
package import NIOCore
package import S3

/// All bytes of an upload.
///
/// A store can read them as often as it needs.
package struct SpooledObject: Sendable {
    enum Storage: Sendable {
        /// Blocks of ``Spool/blockBytes``. The last block may be smaller.
        case memory([ByteBuffer])
        case file(PosixFile)
    }

    let storage: Storage
    /// Its share of the budget, until it is dropped.
    let reservation: SpoolBudget.Reservation
    /// In bytes.
    package let length: Int
    package let digests: ObjectDigests

    /// Reads the bytes of a range.
    ///
    /// - Parameter range: Within `0..<length`.
    /// - Returns: The bytes.
    /// - Throws: What reading the file throws.
    package func bytes(in range: Range<Int>) async throws -> ByteBuffer {
        switch storage {
        case .memory(let blocks): return try Self.bytes(in: range, of: blocks)
        case .file(let file): return try await file.bytes(in: range)
        }
    }

    private static func bytes(in range: Range<Int>, of blocks: [ByteBuffer]) throws -> ByteBuffer {
        var bytes = ByteBuffer()
        var rest = range
        while !rest.isEmpty {
            let (index, offset) = rest.lowerBound.quotientAndRemainder(dividingBy: Spool.blockBytes)
            let count = min(rest.count, Spool.blockBytes - offset)
            guard index < blocks.count,
                let part = blocks[index].getSlice(at: blocks[index].readerIndex + offset, length: count)
            else { throw FileEndedEarly() }
            // A range within one block is not copied.
            if count == range.count { return part }
            bytes.writeImmutableBuffer(part)
            rest = rest.lowerBound + count..<rest.upperBound
        }
        return bytes
    }
}
