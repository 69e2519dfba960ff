package import AESCrypt

/// A password in the clear, on its way from the request to its hash.
///
/// It is never printed.
package struct Password: Sendable {
    let bytes: [UInt8]

    /// The fewest characters of a new password.
    package static let minCharacters = 6
    /// The most bytes of a new password.
    ///
    /// BCrypt uses no more.
    package static let maxBytes = BCrypt.maxPasswordBytes

    /// Decrypts a password as clients send it.
    ///
    /// Nil when the text was not encrypted with this cipher. It gives no reason.
    ///
    /// - Parameters:
    ///   - text: The AESCrypt form.
    ///   - cipher: The cipher with the API's password.
    package init?(_ text: String, cipher: AESCrypt) {
        guard let bytes = try? cipher.decrypt(text), String(validating: bytes, as: UTF8.self) != nil else { return nil }
        self.bytes = bytes
    }

    /// Takes a password as it was typed.
    package init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The rules for a new password: 6 characters to 72 bytes, without NUL.
    ///
    /// - Parameter password: The password; nil for one that could not be decrypted.
    /// - Returns: What is wrong with it.
    static func validationErrors(of password: Password?) -> [ValidationError] {
        let tooShort = ValidationError(.password, .tooShort(minCharacters: minCharacters))
        guard let password else { return [tooShort] }
        var validationErrors: [ValidationError] = []
        if String(decoding: password.bytes, as: UTF8.self).unicodeScalars.count < minCharacters {
            validationErrors.append(tooShort)
        }
        if password.bytes.count > maxBytes {
            validationErrors.append(ValidationError(.password, .tooManyBytes(max: maxBytes)))
        }
        if password.bytes.contains(0) { validationErrors.append(ValidationError(.password, .invalid)) }
        return validationErrors
    }

    /// A new password that breaks no rule.
    ///
    /// - Parameter password: The password; nil for one that could not be decrypted.
    /// - Returns: The password.
    /// - Throws: `InvalidInput`.
    static func checked(_ password: Password?) throws(InvalidInput) -> Password {
        let validationErrors = validationErrors(of: password)
        guard validationErrors.isEmpty, let password else { throw InvalidInput(validationErrors: validationErrors) }
        return password
    }
}

extension Password: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "Password(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
