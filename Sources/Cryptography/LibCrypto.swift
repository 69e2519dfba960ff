import CLibCrypto

/// libcrypto as a whole.
package enum LibCrypto {
    /// Looks whether libcrypto has all algorithms.
    ///
    /// A service asks before it serves. Later, a digest that is missing would end the process.
    ///
    /// - Throws: ``CryptographyError/missing(_:)``.
    package static func check() throws(CryptographyError) {
        for name in [DigestAlgorithm.sha256Name, DigestAlgorithm.md5Name] {
            guard let digest = EVP_MD_fetch(nil, name, nil) else { throw missing(name) }
            EVP_MD_free(digest)
        }
        for name in [CipherAlgorithm.cbcName, CipherAlgorithm.gcmName] {
            guard let cipher = EVP_CIPHER_fetch(nil, name, nil) else { throw missing(name) }
            EVP_CIPHER_free(cipher)
        }
    }

    private static func missing(_ name: String) -> CryptographyError {
        ERR_clear_error()
        return .missing(name)
    }
}
