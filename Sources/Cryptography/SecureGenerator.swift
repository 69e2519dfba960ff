import CLibCrypto

/// libcrypto's generator of random bytes, which nobody can predict.
package struct SecureGenerator: RandomNumberGenerator {
    /// The process's only one; it has no state here.
    package init() {}

    package mutating func next() -> UInt64 {
        var number: UInt64 = 0
        withUnsafeMutableBytes(of: &number) { Self.fill($0) }
        return number
    }

    /// Random bytes.
    package static func bytes(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, size in
            fill(UnsafeMutableRawBufferPointer(bytes))
            size = count
        }
    }

    /// Ends the process when there are none: what they would protect would be open.
    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        guard RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), CInt(bytes.count)) == 1 else {
            fatalError("libcrypto has no random bytes")
        }
    }
}
