import Glibc

extension UnsafeRawBufferPointer {
    /// The offset of the first CR at or after an offset, or the count if there is none.
    ///
    /// - Parameter start: The offset to begin at, at most the count.
    /// - Returns: An offset between `start` and the count.
    func firstCarriageReturn(from start: Int) -> Int {
        guard let baseAddress, start < count else { return count }
        // The C library's search compares many bytes at a time.
        let found = memchr(baseAddress + start, Int32(ASCII.carriageReturn), count - start)
        return found.map { UnsafeRawPointer($0) - baseAddress } ?? count
    }
}
