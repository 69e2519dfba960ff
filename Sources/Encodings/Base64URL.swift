/// Base64 for URLs, without padding (RFC 4648, section 5).
package enum Base64URL {
    private static var alphabet: StaticString { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" }

    /// Bytes as letters.
    package static func string(of bytes: UnsafeRawBufferPointer) -> String {
        var text = TextBuffer(capacity: bytes.count * 4 / 3 + 1)
        append(bytes, to: &text)
        return text.string
    }

    /// Appends bytes as letters.
    package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        let alphabet = alphabet.utf8Start
        text.append(maxCount: (bytes.count + 2) / 3 * 4) { letters in
            var (start, count) = (0, 0)
            while start < bytes.count {
                var bits = Int(bytes[start]) << 16
                if start + 1 < bytes.count { bits |= Int(bytes[start + 1]) << 8 }
                if start + 2 < bytes.count { bits |= Int(bytes[start + 2]) }
                letters[count] = alphabet[bits >> 18 & 0x3F]
                letters[count + 1] = alphabet[bits >> 12 & 0x3F]
                letters[count + 2] = alphabet[bits >> 6 & 0x3F]
                letters[count + 3] = alphabet[bits & 0x3F]
                (start, count) = (start + 3, count + 4)
            }
            // A last group of one or two bytes makes as many letters and one.
            return (bytes.count * 4 + 2) / 3
        }
    }
}

extension Base64URL {
    /// Letters as bytes.
    ///
    /// - Parameter text: Base64 for URLs, without padding.
    /// - Returns: Nil for a text that ``string(of:)`` makes of no bytes.
    package static func bytes(of text: String) -> [UInt8]? {
        var (bytes, bits, bitCount): ([UInt8], UInt32, Int) = ([], 0, 0)
        for letter in text.utf8 {
            guard let value = value(of: letter) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            bits &= 1 << bitCount - 1
        }
        // What is left of the last letter is zero, and less than a letter.
        return bits == 0 && bitCount < 6 ? bytes : nil
    }

    private static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
