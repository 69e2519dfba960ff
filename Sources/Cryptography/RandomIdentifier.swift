/// Unguessable names: tokens and ids.
package enum RandomIdentifier {
    /// 48 of 62 letters carry 285 bits; the contract asks for 41 letters at least.
    static let secretLength = 48

    private static let lettersAndDigits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// A token or an id: letters and digits only, from libcrypto's generator.
    package static func makeSecret() -> String {
        makeSecret(length: secretLength)
    }

    /// Letters and digits of a length.
    package static func makeSecret(length: Int) -> String {
        make(length: length, alphabet: lettersAndDigits)
    }

    /// A string of letters drawn evenly from an alphabet.
    ///
    /// `randomElement` draws again where a remainder would favour some letters.
    static func make(length: Int, alphabet: [Character]) -> String {
        var generator = SecureGenerator()
        return String((0..<length).compactMap { _ in alphabet.randomElement(using: &generator) })
    }
}
