import Cryptography
import Encodings
import NIOHTTP1

/// The tag with which a store answers for the bytes that it took.
struct EntityTag: Sendable, Hashable {
    /// Without quotation marks.
    let value: String
    /// Whether the store encrypted the object in a way that makes the tag no MD5.
    ///
    /// Source: AWS, "Checking object integrity", on entity tags and SSE-KMS or SSE-C.
    let isOfCiphertext: Bool

    /// The tag of an answer; nil when it has none.
    init?(_ headers: HTTPHeaders) {
        guard let text = headers.first(name: "etag") else { return nil }
        value = text.trimming(Self.quotesAndSpaces)
        let encryption = headers.first(name: "x-amz-server-side-encryption") ?? ""
        isOfCiphertext =
            encryption.hasPrefix("aws:kms")
            || headers.contains(name: "x-amz-server-side-encryption-customer-algorithm")
    }

    /// The tag of a document.
    init(text: String, isOfCiphertext: Bool) {
        value = text.trimming(Self.quotesAndSpaces)
        self.isOfCiphertext = isOfCiphertext
    }

    private static let quotesAndSpaces = "\" "

    /// Whether the tag is these hexadecimal digits.
    func matches(_ digits: String) -> Bool { value.lowercased() == digits }

    /// The tag of an object that came in parts: the MD5 of the parts' MD5s, and the number of parts.
    ///
    /// - Parameter parts: each part's MD5 as 32 hexadecimal digits, in order.
    /// - Returns: the tag, without quotation marks.
    static func ofParts(md5Hex parts: [String]) -> String {
        var digest = MD5()
        for part in parts { digest.update(bytes(hexadecimal: part)) }
        return "\(digest.finalize().hexadecimal)-\(parts.count)"
    }

    static func bytes(hexadecimal text: String) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
