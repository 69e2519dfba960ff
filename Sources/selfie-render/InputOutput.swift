import CSandbox
import Glibc
import RenderInterface

/// Reads the picture: all of a file, wherever its position is, or what a pipe has until its end.
///
/// - Returns: The bytes, which stay until the process ends.
func readInput() throws(RenderFailed) -> UnsafeRawBufferPointer {
    // Memory that is not written to takes no room.
    let capacity = RenderLimits.maxInputBytes + 1
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    var (count, isFile) = (0, true)
    while count < capacity {
        let (rest, room) = (buffer.baseAddress.map { $0 + count }, capacity - count)
        let got = isFile ? pread(SANDBOX_INPUT, rest, room, off_t(count)) : read(SANDBOX_INPUT, rest, room)
        if got == 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
        if got > 0 {
            count += got
        } else if errno == ESPIPE, isFile {
            isFile = false
        } else if errno != EINTR {
            throw RenderFailed(exit: .unreadable)
        }
    }
    throw RenderFailed(exit: .tooManyBytes)
}

/// Writes all of a result.
func writeOutput(_ result: UnsafeRawBufferPointer) throws(RenderFailed) {
    var offset = 0
    while offset < result.count {
        let written = write(SANDBOX_OUTPUT, result.baseAddress.map { $0 + offset }, result.count - offset)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw RenderFailed(exit: .notWritten) }
        offset += written
    }
}
