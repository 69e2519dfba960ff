package import NIOCore

/// Memory for text that is written piece by piece.
///
/// It grows when it must.
///
/// An array checks before each piece whether it has a second owner. The type of this buffer allows one owner only. All
/// that is written goes through `append(maxCount:)`, which makes room first.
package struct TextBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    /// - Parameter capacity: How many bytes to have room for at first.
    package init(capacity: Int) {
        memory = .allocate(byteCount: capacity, alignment: 1)
        self.capacity = capacity
    }

    deinit {
        memory.deallocate()
    }

    package var byteCount: Int { count }

    /// A copy of what was written.
    package var buffer: ByteBuffer { ByteBuffer(bytes: UnsafeRawBufferPointer(start: memory, count: count)) }

    /// A copy of what was written, which must be UTF-8.
    package var string: String { String(decoding: UnsafeRawBufferPointer(start: memory, count: count), as: UTF8.self) }

    /// Appends what a closure writes.
    ///
    /// - Parameters:
    ///   - maxCount: How many bytes it may write.
    ///   - write: Writes into as many bytes of memory, which hold anything, and returns how many count.
    @inline(__always)
    package mutating func append(maxCount: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) {
        if capacity - count < maxCount { grow(by: maxCount) }
        let written = write(UnsafeMutableRawBufferPointer(start: memory + count, count: maxCount))
        precondition((0...maxCount).contains(written))
        count += written
    }

    /// Appends bytes.
    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        append(maxCount: bytes.count) { free in
            free.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Appends a byte.
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        append(maxCount: 1) { free in
            free[0] = byte
            return 1
        }
    }

    /// Appends a literal.
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func grow(by minCount: Int) {
        capacity = max(2 * capacity, count + minCount)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
        larger.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        memory = larger
    }
}
