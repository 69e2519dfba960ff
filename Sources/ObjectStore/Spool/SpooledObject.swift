import Algorithms
import Concurrency
import LinuxFiles
package import NIOCore
package import S3

/// All bytes of an upload, or what is stored of them.
///
/// A store can read them as often as it needs.
package struct SpooledObject: Sendable {
    enum Storage: Sendable {
        /// Blocks of ``Spool/blockBytes``. The last block may be smaller.
        case memory([ByteBuffer])
        case file(PosixFile)
    }

    /// A part of what is stored.
    package enum Piece: Sendable {
        /// A range of what was received.
        case received(Range<Int>)
        case bytes([UInt8])
        case zeros(Int)

        var count: Int {
            switch self {
            case .received(let range): range.count
            case .bytes(let bytes): bytes.count
            case .zeros(let count): count
            }
        }
    }

    let storage: Storage
    /// Its share of the budget, until it is dropped.
    let reservation: SpoolBudget.Reservation
    private let pieces: [Piece]
    /// Where each piece ends.
    private let ends: [Int]

    private var knownDigests: ObjectDigests?

    /// In bytes.
    package var length: Int { ends.last ?? 0 }

    /// How many bytes are read from a file, or zeros written, at a time.
    private static let copyBytes = 256 * 1024

    /// All that was received.
    init(storage: Storage, reservation: SpoolBudget.Reservation, length: Int) {
        self.init(storage: storage, reservation: reservation, pieces: [.received(0..<length)])
    }

    private init(storage: Storage, reservation: SpoolBudget.Reservation, pieces: [Piece]) {
        (self.storage, self.reservation, self.pieces) = (storage, reservation, pieces)
        ends = Array(pieces.reductions(0) { $0 + $1.count }.dropFirst())
    }

    /// The same upload, of which other bytes are stored.
    ///
    /// - Parameter pieces: Their ranges are within what was received.
    /// - Returns: The upload with these bytes.
    package func rewritten(as pieces: [Piece]) -> SpooledObject {
        SpooledObject(storage: storage, reservation: reservation, pieces: pieces)
    }

    /// Reads the bytes of a range.
    ///
    /// - Parameter range: Within `0..<length`.
    /// - Returns: The bytes.
    /// - Throws: What reading the file throws.
    package func bytes(in range: Range<Int>) async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        var start = range.lowerBound
        var index = ends.partitioningIndex { $0 > start }
        while start < range.upperBound {
            let end = min(ends[index], range.upperBound)
            let offset = start - (ends[index] - pieces[index].count)
            var part = try await Self.part(of: pieces[index], offset..<offset + end - start, in: storage)
            // A range within one piece is not copied.
            if end - start == range.count { return part }
            bytes.writeBuffer(&part)
            (start, index) = (end, index + 1)
        }
        return bytes
    }

    private static func part(of piece: Piece, _ range: Range<Int>, in storage: Storage) async throws -> ByteBuffer {
        switch piece {
        case .bytes(let bytes): return ByteBuffer(bytes: bytes[range])
        case .zeros: return ByteBuffer(repeating: 0, count: range.count)
        case .received(let whole):
            let range = whole.lowerBound + range.lowerBound..<whole.lowerBound + range.upperBound
            switch storage {
            case .memory(let blocks): return try received(range, of: blocks)
            case .file(let file): return try await file.bytes(in: range)
            }
        }
    }

    private static func received(_ range: Range<Int>, of blocks: [ByteBuffer]) throws -> ByteBuffer {
        var bytes = ByteBuffer()
        var rest = range
        while !rest.isEmpty {
            let part = try block(with: rest, of: blocks)
            // A range within one block is not copied.
            if part.readableBytes == range.count { return part }
            bytes.writeImmutableBuffer(part)
            rest = rest.lowerBound + part.readableBytes..<rest.upperBound
        }
        return bytes
    }

    /// The first bytes of a range, as many as its first block has.
    private static func block(with range: Range<Int>, of blocks: [ByteBuffer]) throws -> ByteBuffer {
        let (index, offset) = range.lowerBound.quotientAndRemainder(dividingBy: Spool.blockBytes)
        let count = min(range.count, Spool.blockBytes - offset)
        guard index < blocks.count,
            let part = blocks[index].getSlice(at: blocks[index].readerIndex + offset, length: count)
        else { throw FileEndedEarly() }
        return part
    }

    /// The same object, whose digests are known from now on.
    ///
    /// - Returns: The object.
    /// - Throws: What reading the file throws.
    package func hashed() async throws -> SpooledObject {
        var object = self
        object.knownDigests = try await digests()
        return object
    }

    /// Reads all bytes to compute their digests, unless they are known.
    ///
    /// - Returns: The digests.
    /// - Throws: What reading the file throws.
    package func digests() async throws -> ObjectDigests {
        if let knownDigests { return knownDigests }
        // Of an upload in memory, all is read without a wait.
        return try await offEventLoop {
            var digests = ObjectDigests()
            for start in stride(from: 0, to: length, by: Self.copyBytes) {
                digests.update(try await bytes(in: start..<min(start + Self.copyBytes, length)))
            }
            return digests
        }
    }

    /// Reads all bytes, on a thread that may block.
    ///
    /// - Parameter body: Takes some of them, in order.
    /// - Throws: What reading the file throws, or what the body throws.
    func forEachPart(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.copyBytes, alignment: 1)
        defer { buffer.deallocate() }
        for piece in pieces {
            switch piece {
            case .bytes(let bytes): try bytes.withUnsafeBytes(body)
            case .zeros(let count):
                buffer.initializeMemory(as: UInt8.self, repeating: 0)
                for start in stride(from: 0, to: count, by: buffer.count) {
                    try body(UnsafeRawBufferPointer(rebasing: buffer[..<min(buffer.count, count - start)]))
                }
            case .received(let range): try Self.forEachPart(of: range, in: storage, buffer: buffer, body)
            }
        }
    }

    private static func forEachPart(
        of range: Range<Int>,
        in storage: Storage,
        buffer: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = range
        while !rest.isEmpty {
            let count: Int
            switch storage {
            case .memory(let blocks):
                let part = try block(with: rest, of: blocks)
                try part.withUnsafeReadableBytes(body)
                count = part.readableBytes
            case .file(let file):
                let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, rest.count)])
                count = try file.read(into: wanted, at: rest.lowerBound)
                guard count > 0 else { throw FileEndedEarly() }
                try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            rest = rest.lowerBound + count..<rest.upperBound
        }
    }
}
