import FoundationEssentials

/// Why a message can't be decrypted.
///
/// It is for operators only. A client that gets it could decrypt messages, byte by byte (a padding oracle).
package enum AESCryptFailure: String, Sendable, CaseIterable {
    /// It has other characters than base64: a password in the clear, or hexadecimal.
    case notBase64 = "not_base64"
    /// It has spaces where base64 may have `+`: a form that was not percent-encoded.
    case plusBecameSpace = "plus_became_space"
    /// It is no row of whole blocks of 16 bytes: it was cut off, or never encrypted.
    case notWholeBlocks = "not_whole_blocks"
    /// It was encrypted with another passphrase, in another mode, or with another initialization vector.
    case otherKey = "other_key"
}

extension AESCrypt {
    /// Looks for the reason why a message can't be decrypted.
    ///
    /// - Parameter text: What `decrypt` refused.
    /// - Returns: The most likely reason.
    package func failure(of text: String) -> AESCryptFailure {
        // All that follows compares characters, which is slow for some that are not ASCII.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return .notBase64 }
        // The gem wraps its lines, but puts no space into them.
        var text = text.filter { !$0.isNewline }.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        if text.contains(" ") {
            return Self.isWholeBlocks(text.replacing(" ", with: "+")) ? .plusBecameSpace : .notBase64
        }
        // Hexadecimal digits are digits of base64, too.
        if !text.isEmpty, text.utf8.count.isMultiple(of: 2 * 16), text.allSatisfy(\.isHexDigit) { return .notBase64 }
        guard (try? Self.decodeBase64(String(text))) != nil else { return .notBase64 }
        return Self.isWholeBlocks(text) ? .otherKey : .notWholeBlocks
    }

    private static func isWholeBlocks(_ text: Substring) -> Bool {
        guard let data = try? decodeBase64(String(text)) else { return false }
        return !data.isEmpty && data.count.isMultiple(of: 16)
    }
}
