import AESCrypt

extension FuzzTarget {
    private static let cipher = AESCrypt(passphrase: "p4ssw0rd")

    /// A text is decrypted or refused by the one error there is, and every message comes back.
    static func decrypt(_ bytes: [UInt8]) throws {
        do {
            _ = try cipher.decrypt(String(decoding: bytes, as: UTF8.self))
        } catch {
            try require(error == AESCryptError(), "one error for whatever is wrong")
        }
        try require(try cipher.decrypt(try cipher.encrypt(bytes)) == bytes, "the message that was encrypted")
    }
}
