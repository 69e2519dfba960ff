import CLibCrypto

/// A way to sign with a private key, and to check with the public one.
///
/// Source: RFC 7518, "JSON Web Algorithms", sections 3.3 and 3.4.
package protocol SignatureAlgorithm: Sendable {
    /// Whether a key can be used.
    static func accepts(_ key: KeyHandle) -> Bool
    /// The signature's form on the wire, made of libcrypto's; nil if it is malformed.
    static func encoded(_ signature: [UInt8]) -> [UInt8]?
    /// libcrypto's form, made of the form on the wire; nil if it is malformed.
    static func decoded(_ signature: [UInt8]) -> [UInt8]?
}

/// ECDSA with the curve P-256 and SHA-256.
///
/// A signature is 64 bytes: two numbers of 32 bytes, the most significant byte first.
package enum ES256: SignatureAlgorithm {
    private static let numberByteCount: CInt = 32

    package static func accepts(_ key: KeyHandle) -> Bool { key.isOnP256 }

    package static func encoded(_ signature: [UInt8]) -> [UInt8]? {
        signature.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            guard let parsed = d2i_ECDSA_SIG(nil, &start, bytes.count) else { return nil }
            defer { ECDSA_SIG_free(parsed) }
            var output = [UInt8](repeating: 0, count: 2 * Int(numberByteCount))
            let isWritten = output.withUnsafeMutableBufferPointer { output in
                BN_bn2binpad(ECDSA_SIG_get0_r(parsed), output.baseAddress, numberByteCount) == numberByteCount
                    && BN_bn2binpad(
                        ECDSA_SIG_get0_s(parsed),
                        output.baseAddress.map { $0 + Int(numberByteCount) },
                        numberByteCount
                    ) == numberByteCount
            }
            return isWritten ? output : nil
        }
    }

    package static func decoded(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 2 * Int(numberByteCount), let parsed = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(parsed) }
        let (r, s) = signature.withUnsafeBufferPointer { bytes in
            (
                BN_bin2bn(bytes.baseAddress, numberByteCount, nil),
                BN_bin2bn(bytes.baseAddress.map { $0 + Int(numberByteCount) }, numberByteCount, nil)
            )
        }
        guard ECDSA_SIG_set0(parsed, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        let count = i2d_ECDSA_SIG(parsed, nil)
        guard count > 0 else { return nil }
        var output = [UInt8](repeating: 0, count: Int(count))
        output.withUnsafeMutableBufferPointer { buffer in
            var end = buffer.baseAddress
            _ = i2d_ECDSA_SIG(parsed, &end)
        }
        return output
    }
}

/// RSA with PKCS #1 version 1.5 padding and SHA-256.
///
/// A signature is as long as the key's modulus. The key has 2,048 bits at least.
package enum RS256: SignatureAlgorithm {
    package static func accepts(_ key: KeyHandle) -> Bool { key.isRSA && key.bitCount >= 2_048 }

    package static func encoded(_ signature: [UInt8]) -> [UInt8]? { signature }

    package static func decoded(_ signature: [UInt8]) -> [UInt8]? { signature }
}
