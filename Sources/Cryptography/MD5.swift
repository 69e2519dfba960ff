/// MD5 (RFC 1321) of bytes that come in parts.
///
/// It finds accidents. It stops nobody who changes bytes on purpose.
package struct MD5: Sendable {
    private var context = DigestContext(.md5)

    private static let byteCount = 16

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

    /// The digest of the bytes so far, 16 bytes.
    package consuming func finalize() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { digest, count in
            DigestContext.finish(&context, into: UnsafeMutableRawBufferPointer(digest))
            count = Self.byteCount
        }
    }

    /// The digest of some bytes, 16 bytes.
    package static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digest = MD5()
        digest.update(bytes)
        return digest.finalize()
    }
}
