/// Base64 for URLs, without padding (RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Appends bytes as letters.
    static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        alphabet.withUnsafeBufferPointer { alphabet in
            var (pending, bitCount) = (0, 0)
            for byte in bytes {
                pending = (pending << 8 | Int(byte)) & 0xFFFF
                bitCount += 8
                while bitCount >= 6 {
                    bitCount -= 6
                    text.append(alphabet[pending >> bitCount & 0x3F])
                }
            }
            if bitCount > 0 { text.append(alphabet[pending << (6 - bitCount) & 0x3F]) }
        }
    }
}
