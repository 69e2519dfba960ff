import Cryptography
import Encodings
import JSON

/// A signed statement (RFC 7519), in the compact form of RFC 7515.
enum JSONWebToken {
    /// Makes a token.
    ///
    /// - Parameters:
    ///   - header: Names the algorithm, and perhaps the key.
    ///   - claims: What is stated.
    ///   - key: Signs it.
    /// - Returns: Header, claims and signature in base64url, with dots between them.
    /// - Throws: `CryptographyError`.
    static func make<Algorithm>(
        header: JSONValue,
        claims: JSONValue,
        key: PrivateKey<Algorithm>
    ) throws(CryptographyError) -> String {
        let signed = [header, claims].map { base64(Array($0.text.utf8)) }.joined(separator: ".")
        return signed + "." + base64(try key.signature(of: Array(signed.utf8)))
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { Base64URL.string(of: $0) }
    }
}
