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
