import Testing

@testable import Cryptography

@Suite("AES in CBC mode")
struct AESCBCTests {
    /// NIST SP 800-38A, F.2.5, "CBC-AES256.Encrypt", the first block.
    private static let key = SecretBytes([
        0x60, 0x3D, 0xEB, 0x10, 0x15, 0xCA, 0x71, 0xBE, 0x2B, 0x73, 0xAE, 0xF0, 0x85, 0x7D, 0x77, 0x81,
        0x1F, 0x35, 0x2C, 0x07, 0x3B, 0x61, 0x08, 0xD7, 0x2D, 0x98, 0x10, 0xA3, 0x09, 0x14, 0xDF, 0xF4,
    ])
    private static let message: [UInt8] = [
        0x6B, 0xC1, 0xBE, 0xE2, 0x2E, 0x40, 0x9F, 0x96, 0xE9, 0x3D, 0x7E, 0x11, 0x73, 0x93, 0x17, 0x2A,
    ]

    private static func cipher() throws -> AESCBC { try AESCBC(key: key, iv: Array(0..<16)) }

    @Test("The first block is NIST's, and a block of padding follows")
    func vector() throws {
        let encrypted = try Self.cipher().encrypt(Self.message)
        #expect(encrypted.count == 32)
        #expect(encrypted.prefix(16).digits == "f58c4c04d6e5f1ba779eabfb5f7bfbd6")
        #expect(try Self.cipher().decrypt(encrypted) == Self.message)
    }

    @Test("A changed last block, and a length that is not of whole blocks, are refused", arguments: [0, 1, 15, 17, 31])
    func malformed(length: Int) throws {
        let encrypted = try Self.cipher().encrypt(Self.message)
        #expect(throws: CryptographyError.failed) { try Self.cipher().decrypt(encrypted.prefix(length)) }
        var changed = encrypted
        changed[15] ^= 0x40
        #expect(throws: CryptographyError.failed) { try Self.cipher().decrypt(changed) }
    }

    @Test("A key or an initialization vector of another length is refused")
    func lengths() {
        #expect(throws: CryptographyError.length) { try AESCBC(key: SecretBytes([1]), iv: Array(0..<16)) }
        #expect(throws: CryptographyError.length) { try AESCBC(key: Self.key, iv: Array(0..<15)) }
    }

    @Test("A key is not printed, dumped or reflected")
    func secrecy() {
        var text = "\(Self.key) \(String(reflecting: Self.key))"
        dump(Self.key, to: &text)
        #expect(Mirror(reflecting: Self.key).children.isEmpty)
        #expect(!text.contains("60") && !text.contains("96"))
    }
}
