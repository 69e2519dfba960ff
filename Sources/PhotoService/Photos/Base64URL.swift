import FoundationEssentials

/// Base64 for URLs, without padding (RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Writes bytes as letters.
    static func encode(_ bytes: some ContiguousBytes) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            [UInt8](unsafeUninitializedCapacity: (bytes.count * 8 + 5) / 6) { letters, count in
                var (pending, bitCount) = (0, 0)
                for byte in bytes {
                    pending = (pending << 8 | Int(byte)) & 0xFFFF
                    bitCount += 8
                    while bitCount >= 6 {
                        bitCount -= 6
                        letters[count] = alphabet[pending >> bitCount & 0x3F]
                        count += 1
                    }
                }
                if bitCount > 0 {
                    letters[count] = alphabet[pending << (6 - bitCount) & 0x3F]
                    count += 1
                }
            }
        }
    }
}
