package import Foundation

#if canImport(CommonCrypto)
    import CommonCrypto
#else
    import CSelfieCrypto
#endif

/// SHA-256 (FIPS 180-4), by the system.
package enum SHA256 {
    static let byteCount = 32

    /// - Returns: 32 bytes.
    package static func digest(of data: Data) -> Data {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let bytes = [UInt8](data)
        #if canImport(CommonCrypto)
            CC_SHA256(bytes, CC_LONG(bytes.count), &digest)
        #else
            let isDone = LibCrypto.isReady && EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1
            precondition(isDone, "libcrypto has no SHA-256.")
        #endif
        return Data(digest)
    }
}

extension Data {
    /// Two lower-case hexadecimal digits for each byte.
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
