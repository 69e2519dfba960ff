import NIOCore
import NIOPosix
import S3

/// An upload's bytes, all of them there, to be read as often as a store needs.
struct SpooledObject: Sendable {
    enum Storage: Sendable {
        case memory(ByteBuffer)
        case file(PosixFile)
    }

    let storage: Storage
    /// In bytes.
    let length: Int
    let digests: ObjectDigests
    /// The first bytes, as many as tell a photo's format.
    let leadingBytes: [UInt8]

    /// Reads the bytes of a range within `0..<length`.
    ///
    /// - Throws: What reading the file throws.
    func bytes(in range: Range<Int>) async throws -> ByteBuffer {
        switch storage {
        case .memory(let buffer):
            guard let bytes = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) else {
                throw FileEndedEarly()
            }
            return bytes
        case .file(let file): return try await file.bytes(in: range)
        }
    }
}

/// Takes an upload's bytes as they arrive: into memory while they are few, then into a file without a name.
struct Spool: ~Copyable {
    /// What one upload holds in memory at most, beside the network's own buffers.
    static let memoryBytesMax = 1024 * 1024

    private var buffer = ByteBuffer()
    private var file: PosixFile?
    private var length = 0
    private var digests = ObjectDigests()
    private var leadingBytes: [UInt8] = []

    /// Takes the next bytes.
    ///
    /// - Parameter chunk: The bytes.
    /// - Throws: `PosixFileError`, for instance when the disk is full.
    mutating func append(_ chunk: ByteBuffer) async throws {
        digests.update(chunk)
        if leadingBytes.count < PhotoFormat.prefixBytes {
            leadingBytes += chunk.readableBytesView.prefix(PhotoFormat.prefixBytes - leadingBytes.count)
        }
        length += chunk.readableBytes
        if buffer.readableBytes + chunk.readableBytes > Self.memoryBytesMax { try await flush() }
        buffer.writeImmutableBuffer(chunk)
    }

    /// Ends the upload.
    ///
    /// - Returns: The whole object.
    /// - Throws: `PosixFileError`.
    consuming func finish() async throws -> SpooledObject {
        if file != nil { try await flush() }
        return SpooledObject(
            storage: file.map { .file($0) } ?? .memory(buffer),
            length: length,
            digests: digests,
            leadingBytes: leadingBytes
        )
    }

    private mutating func flush() async throws {
        file = try await NIOThreadPool.singleton.runIfActive { [buffer, file] in
            let file = try file ?? PosixFile.makeTemporary()
            try buffer.withUnsafeReadableBytes { try file.write($0) }
            return file
        }
        buffer.clear()
    }
}
