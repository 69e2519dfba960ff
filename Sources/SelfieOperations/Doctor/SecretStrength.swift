/// Tells made-up secrets from those of a generator.
enum SecretStrength {
    private static let minDistinctCharacters = 6
    private static let examples = [
        "password", "p4ssw0rd", "passw0rd", "secret", "changeme", "change-me", "change_me", "example", "letmein",
        "12345",
        "qwerty", "selfie",
    ]

    /// Why a secret is easy to guess.
    ///
    /// - Parameters:
    ///   - secret: The secret.
    ///   - minCharacters: The least number of characters that it should have.
    /// - Returns: The end of a sentence that begins with the secret's name. Nil if the secret seems random.
    static func weakness(of secret: String, minCharacters: Int) -> String? {
        let characters = Array(secret)
        if Set(characters).count < minDistinctCharacters {
            return "has no more than \(minDistinctCharacters - 1) different characters"
        }
        if characters.count < minCharacters { return "has fewer than \(minCharacters) characters" }
        if isRepetition(characters) { return "is a repetition" }
        let lowercased = secret.lowercased()
        if examples.contains(where: lowercased.contains) { return "holds a word that is tried first" }
        return nil
    }

    private static func isRepetition(_ characters: [Character]) -> Bool {
        (1..<max(2, characters.count / 2 + 1)).contains { period in
            zip(characters, characters.dropFirst(period)).allSatisfy { $0 == $1 }
        }
    }
}
