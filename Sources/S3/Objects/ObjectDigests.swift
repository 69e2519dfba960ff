import Cryptography
import Encodings
package import NIOCore

/// The two digests that stores use, both computed while the bytes pass.
package struct ObjectDigests: Sendable {
    private var sha256 = SHA256()
    private var md5 = MD5()

    /// Begins with no bytes.
    package init() {}

    /// Takes the next bytes.
    ///
    /// - Parameter bytes: any number of them.
    package mutating func update(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { bytes in
            sha256.update(bytes)
            md5.update(bytes)
        }
    }

    /// The SHA-256 of the bytes so far, 64 lower-case hexadecimal digits.
    ///
    /// Signatures cover it.
    package var sha256Hex: String { sha256.finalize().hexadecimal }

    /// The MD5 of the bytes so far, 32 lower-case hexadecimal digits.
    ///
    /// Most stores answer it as the entity tag of an object that was put whole. It is used only to find accidents.
    package var md5Hex: String { md5.finalize().hexadecimal }
}
