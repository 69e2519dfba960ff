extension UnsafeRawBufferPointer {
    /// The offset of the first CR at or after an offset, or the count if there is none.
    ///
    /// Eight bytes at a time: XOR makes each CR a zero byte, and the subtraction borrows through the
    /// high bit of a zero byte ("Determine if a word has a zero byte", Bit Twiddling Hacks). A borrow
    /// can mark a byte wrongly only above a true one, so the lowest mark is always right. A plain loop
    /// is not vectorised, for it may end at any byte, and is several times slower.
    ///
    /// - Parameter start: The offset to begin at, at most the count.
    /// - Returns: An offset between `start` and the count.
    func firstCarriageReturn(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let wordBytes = MemoryLayout<UInt64>.size
        var offset = start
        while count - offset >= wordBytes {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let zeroed = word ^ (ones * UInt64(ASCII.carriageReturn))
            let marks = (zeroed &- ones) & ~zeroed & (ones << 7)
            guard marks == 0 else { return offset + marks.trailingZeroBitCount / 8 }
            offset += wordBytes
        }
        while offset < count, self[offset] != ASCII.carriageReturn { offset += 1 }
        return offset
    }
}
