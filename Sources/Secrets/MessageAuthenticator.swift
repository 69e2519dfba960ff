package import Crypto

/// HMAC-SHA256 (RFC 2104) that hashes its key once.
///
/// After that, a code costs only its message.
///
/// swift-crypto's own `HMAC` is generic over the hash, and not specialised outside of its module. It takes five times
/// as long (decision 18).
package struct MessageAuthenticator: Sendable {
    private let inner: SHA256
    private let outer: SHA256

    /// - Parameter key: Of any length; more than 32 bytes add nothing.
    package init(key: [UInt8]) {
        var block = key.count > SHA256.blockByteCount ? Array(SHA256.hash(data: key)) : key
        block += [UInt8](repeating: 0, count: SHA256.blockByteCount - block.count)
        inner = Self.state(after: block.map { $0 ^ 0x36 })
        outer = Self.state(after: block.map { $0 ^ 0x5C })
    }

    /// The code of a message, 32 bytes.
    package func code(of message: UnsafeRawBufferPointer) -> SHA256Digest {
        code { $0.update(bufferPointer: message) }
    }

    /// The code of a message that a closure adds to a hash in parts, 32 bytes.
    package func code(_ message: (inout SHA256) -> Void) -> SHA256Digest {
        var (inner, outer) = (inner, outer)
        message(&inner)
        inner.finalize().withUnsafeBytes { outer.update(bufferPointer: $0) }
        return outer.finalize()
    }

    private static func state(after block: [UInt8]) -> SHA256 {
        var state = SHA256()
        block.withUnsafeBytes { state.update(bufferPointer: $0) }
        return state
    }
}
