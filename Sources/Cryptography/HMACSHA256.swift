/// HMAC-SHA256 (RFC 2104) that hashes its key once.
///
/// After that, a code costs only its message, and the copies of two states (decision 18).
package struct HMACSHA256: Sendable {
    private let inner: SHA256
    private let outer: SHA256

    /// - Parameter key: Of any length; more than 32 bytes add nothing.
    package init(key: some Collection<UInt8>) {
        let key = SecretBytes(count: SHA256.blockByteCount) { block in
            if key.count > SHA256.blockByteCount {
                SHA256.hash(key).withUnsafeBytes { block.copyMemory(from: $0) }
            } else {
                block.copyBytes(from: key)
            }
        }
        (inner, outer) = (Self.state(afterKey: key, xor: 0x36), Self.state(afterKey: key, xor: 0x5C))
    }

    private static func state(afterKey key: SecretBytes, xor mask: UInt8) -> SHA256 {
        let block = SecretBytes(count: SHA256.blockByteCount) { block in
            key.withUnsafeBytes { key in for (index, byte) in key.enumerated() { block[index] = byte ^ mask } }
        }
        var state = SHA256()
        block.withUnsafeBytes { state.update($0) }
        return state
    }

    /// The code of a message.
    package func code(of message: UnsafeRawBufferPointer) -> SHA256Digest {
        code { $0.update(message) }
    }

    /// The code of a message.
    package func code(of message: some Collection<UInt8>) -> SHA256Digest {
        code { $0.update(message) }
    }

    /// The code of a message that a closure adds to a hash in parts.
    package func code(_ message: (inout SHA256) -> Void) -> SHA256Digest {
        var (inner, outer) = (inner, outer)
        message(&inner)
        inner.finalize().withUnsafeBytes { outer.update($0) }
        return outer.finalize()
    }
}
