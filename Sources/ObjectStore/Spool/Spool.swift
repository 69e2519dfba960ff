import Budgets
import LinuxFiles
package import NIOCore
import NIOPosix

/// Takes an upload's bytes as they arrive: into memory while they are few or the budget lasts, then into a file without
/// a name.
package struct Spool: ~Copyable {
    /// The bytes of a block.
    ///
    /// One upload may always hold one block in memory, beside the network's buffers. A store that asks for as many bytes
    /// gets them without a copy.
    package static let blockBytes = 256 * 1024

    private let reservation: SpoolBudget.Reservation
    private var blocks: [ByteBuffer] = []
    private var file: PosixFile?
    private var length = 0

    /// - Parameters:
    ///   - budget: What uploads share.
    ///   - userID: Whose upload it is.
    package init(_ budget: SpoolBudget = .unshared, userID: Int = 0) {
        reservation = SpoolBudget.Reservation(of: budget, userID: userID)
    }

    /// Takes the next bytes.
    ///
    /// - Parameter chunk: The bytes.
    /// - Throws: `PosixFileError`, for instance when the disk is full, or `TooBusy`.
    package mutating func append(_ chunk: ByteBuffer) async throws {
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
    /// - Throws: `PosixFileError`, `TooBusy`.
    package consuming func finish() async throws -> SpooledObject {
        if file != nil { try await flush() }
        return SpooledObject(
            storage: file.map { .file($0) } ?? .memory(blocks),
            reservation: reservation,
            length: length
        )
    }

    private mutating func addBlock() async throws {
        // The first block is the upload's own.
        if !blocks.isEmpty, file != nil || !hasSharedBlock() { try await flush() }
        // It grows as it fills, since many objects are small.
        blocks.append(
            blocks.isEmpty && file == nil ? ByteBuffer() : ByteBufferAllocator().buffer(capacity: Self.blockBytes)
        )
    }

    private func hasSharedBlock() -> Bool {
        do {
            try reservation.memory.grow(by: Self.blockBytes)
            return true
        } catch {
            return false
        }
    }

    private mutating func flush() async throws {
        let byteCount = blocks.reduce(0) { $0 + $1.readableBytes }
        do {
            try reservation.disk.grow(by: byteCount)
        } catch {
            // The same for all users: 503, whichever user fills the disk.
            throw TooBusy.everyone(limit: "SPOOL")
        }
        file = try await NIOThreadPool.singleton.runIfActive { [blocks, file] in
            let file = try file ?? PosixFile.makeTemporary()
            for block in blocks { try block.withUnsafeReadableBytes { try file.write($0) } }
            return file
        }
        blocks.removeAll(keepingCapacity: true)
        reservation.memory.release()
    }
}
