import CLibCrypto

/// Comparisons whose time does not depend on where two values differ.
package enum ConstantTime {
    /// Whether two sequences of bytes are the same.
    ///
    /// The time depends on their lengths only, so a client can't guess a secret byte by byte.
    package static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return CRYPTO_memcmp(first, second, left.count) == 0
    }

    /// Whether two sequences of bytes are the same.
    ///
    /// The time depends on their lengths only, so a client can't guess a secret byte by byte.
    package static func isSame(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        withBytes(of: left) { left in withBytes(of: right) { isSame(left, $0) } }
    }
}
