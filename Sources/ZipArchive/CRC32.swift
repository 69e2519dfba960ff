import CZlib

/// The CRC-32 of bytes that come in parts, as ZIP has it (APPNOTE.TXT, section 4.4.7).
package struct CRC32: Sendable {
    /// The value of the bytes so far.
    package private(set) var value: UInt32 = 0

    /// Begins with no bytes.
    package init() {}

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        // zlib starts anew when there is no address.
        guard let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
        value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), start, bytes.count))
    }
}
