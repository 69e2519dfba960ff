/// SHA-256 (FIPS 180-4) of bytes that come in parts.
///
/// A copy goes its own way.
package struct SHA256: Sendable {
    private var context = DigestContext(.sha256)

    /// How many bytes it works on at a time.
    static let blockByteCount = 64

    /// Begins with no bytes.
    package init() {}

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        DigestContext.update(&context, bytes)
    }

    /// Adds bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        withBytes(of: bytes) { update($0) }
    }

    /// The digest of the bytes so far.
    package consuming func finalize() -> SHA256Digest {
        SHA256Digest { DigestContext.finish(&context, into: $0) }
    }

    /// The digest of some bytes.
    package static func hash(_ bytes: some Collection<UInt8>) -> SHA256Digest {
        var digest = SHA256()
        digest.update(bytes)
        return digest.finalize()
    }
}

/// 32 bytes: a SHA-256 digest, or an HMAC code.
///
/// Two are compared in constant time.
package struct SHA256Digest: Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(_ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        Swift.withUnsafeMutableBytes(of: &words, fill)
    }

    /// Passes the bytes.
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: words, body)
    }
}

extension SHA256Digest: Sequence {
    package func makeIterator() -> Array<UInt8>.Iterator { withUnsafeBytes { Array($0) }.makeIterator() }
}

extension SHA256Digest: Hashable {
    package static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { ConstantTime.isSame(left, $0) } }
    }

    package func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
