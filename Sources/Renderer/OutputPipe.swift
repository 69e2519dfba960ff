import CSpawn
import Glibc
import RenderInterface

/// A pipe from a process to this one.
///
/// What is open of it is closed when it is dropped.
struct OutputPipe: ~Copyable {
    private let readEnd: Int32
    /// What the process writes to; -1 when it is closed here.
    private(set) var writeEnd: Int32
    private(set) var isAtEnd = false
    /// What was read: at most one buffer more than a result may have.
    private(set) var bytes: [UInt8] = []

    private static let bufferBytes = 64 * 1024

    /// - Throws: `notStarted` when there are no free descriptors.
    init() throws(RenderFailure) {
        var (readEnd, writeEnd): (Int32, Int32) = (-1, -1)
        guard spawn_pipe(&readEnd, &writeEnd) == 0 else { throw .notStarted }
        (self.readEnd, self.writeEnd) = (readEnd, writeEnd)
    }

    deinit {
        close(readEnd)
        if writeEnd >= 0 { close(writeEnd) }
    }

    /// Without this, the pipe would not end with the process.
    mutating func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    /// Waits for bytes or for the end, but not for long.
    ///
    /// Behind the end, it only waits.
    func wait(milliseconds: Int32) {
        var ready = pollfd(fd: isAtEnd ? -1 : readEnd, events: Int16(POLLIN), revents: 0)
        _ = poll(&ready, 1, milliseconds)
    }

    /// Reads what is there, up to the limit.
    mutating func readAvailable() {
        while !isAtEnd, bytes.count <= RenderLimits.maxOutputBytes {
            let count = withUnsafeTemporaryAllocation(byteCount: Self.bufferBytes, alignment: 16) { buffer in
                let count = read(readEnd, buffer.baseAddress, buffer.count)
                bytes += buffer.prefix(max(0, count))
                return count
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return }
            isAtEnd = count == 0
        }
    }
}
