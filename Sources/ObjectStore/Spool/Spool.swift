import LinuxFiles
package import NIOCore
import NIOPosix
import S3

/// Takes an upload's bytes as they arrive: into memory while they are few or the shared memory lasts, then into a file
/// without a name.
package struct Spool: ~Copyable {
    /// The bytes that one upload may always hold in memory, beside the network's buffers.
    package static let maxMemoryBytes = 1024 * 1024
    /// The bytes of a block.
    ///
    /// A store that asks for as many gets them without a copy.
    static let blockBytes = 256 * 1024
    /// How many of the first bytes are kept to recognise the format.
    package static let maxLeadingBytes = 64

    private let reservation: SpoolReservation?
    private var blocks: [ByteBuffer] = []
    private var file: PosixFile?
    private var length = 0
    private var digests = ObjectDigests()
    private var leadingBytes: [UInt8] = []

    /// - Parameter memory: The memory that uploads share. Nil for an upload that goes to a file once its own part is
    ///   full.
    package init(sharing memory: SpoolMemory? = nil) {
        reservation = memory.map(SpoolReservation.init)
    }

    /// Takes the next bytes.
    ///
    /// - Parameter chunk: The bytes.
    /// - Throws: `PosixFileError`, for instance when the disk is full.
    package mutating func append(_ chunk: ByteBuffer) async throws {
        digests.update(chunk)
        if leadingBytes.count < Self.maxLeadingBytes {
            leadingBytes += chunk.readableBytesView.prefix(Self.maxLeadingBytes - leadingBytes.count)
        }
        length += chunk.readableBytes
        var rest = chunk
        while rest.readableBytes > 0 {
            if blocks.last.map({ $0.readableBytes == Self.blockBytes }) ?? true { try await addBlock() }
            let last = blocks.count - 1
            let room = Self.blockBytes - blocks[last].readableBytes
            if let part = rest.readSlice(length: min(room, rest.readableBytes)) {
                blocks[last].writeImmutableBuffer(part)
            }
        }
    }

    /// Ends the upload.
    ///
    /// - Returns: The whole object.
    /// - Throws: `PosixFileError`.
    package consuming func finish() async throws -> SpooledObject {
        if file != nil { try await flush() }
        return SpooledObject(
            storage: file.map { .file($0) } ?? .memory(blocks, reservation),
            length: length,
            digests: digests,
            leadingBytes: leadingBytes
        )
    }

    private mutating func addBlock() async throws {
        let isOwn = blocks.count * Self.blockBytes < Self.maxMemoryBytes
        let isShared = !isOwn && file == nil && reservation?.grow(by: Self.blockBytes) == true
        if !isOwn && !isShared { try await flush() }
        // The first block grows as it fills, since many photos are small.
        blocks.append(
            blocks.isEmpty && file == nil ? ByteBuffer() : ByteBufferAllocator().buffer(capacity: Self.blockBytes)
        )
    }

    private mutating func flush() async throws {
        file = try await NIOThreadPool.singleton.runIfActive { [blocks, file] in
            let file = try file ?? PosixFile.makeTemporary()
            for block in blocks { try block.withUnsafeReadableBytes { try file.write($0) } }
            return file
        }
        blocks.removeAll(keepingCapacity: true)
        reservation?.giveBack()
    }
}
