import AESCrypt

/// A password in the clear, on its short way from the request to its hash; it prints as nothing.
struct Password: Sendable {
    let bytes: [UInt8]

    static let charactersMin = 6

    /// Decrypts a password as clients send it.
    ///
    /// Nil for whatever is not a text that was encrypted with this cipher; nothing tells why.
    ///
    /// - Parameters:
    ///   - text: The AESCrypt form.
    ///   - cipher: The cipher with the API's password.
    init?(_ text: String, cipher: AESCrypt) {
        guard let bytes = try? cipher.decrypt(text), String(validating: bytes, as: UTF8.self) != nil else { return nil }
        self.bytes = bytes
    }

    /// The rules for a new password: 6 characters to 72 bytes, without NUL.
    ///
    /// - Parameter password: The password; nil for one that could not be decrypted.
    /// - Returns: The contract's text for each rule that it breaks, each ending in a comma.
    static func complaints(about password: Password?) -> [String] {
        let tooShort = "password - is too short (minimum is \(charactersMin) characters),"
        guard let password else { return [tooShort] }
        let isShort = String(decoding: password.bytes, as: UTF8.self).unicodeScalars.count < charactersMin
        let isLong = password.bytes.count > BCrypt.passwordBytesMax
        return [
            isShort ? tooShort : nil,
            isLong ? "password - is too long (maximum is \(BCrypt.passwordBytesMax) bytes)," : nil,
            password.bytes.contains(0) ? "password - is invalid," : nil,
        ].compactMap(\.self)
    }
}

extension Password: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "Password(redacted)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
