/// Tells secrets that somebody made up from such as come from a generator.
enum SecretStrength {
    private static let minDistinctCharacters = 6
    private static let examples = [
        "password", "p4ssw0rd", "passw0rd", "secret", "changeme", "change-me", "change_me", "example", "letmein",
        "12345",
        "qwerty", "selfie",
    ]

    /// What makes a secret easy to guess.
    ///
    /// - Parameters:
    ///   - secret: The secret.
    ///   - minCharacters: How long it should be at least.
    /// - Returns: What follows the secret's name in a sentence, without the secret; nil for one that seems random.
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
