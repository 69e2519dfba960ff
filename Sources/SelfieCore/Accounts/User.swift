import Encodings

/// An account, as its owner sees it.
package struct User: Sendable {
    package let id: Int
    package let firstName: String
    package let lastName: String
    package let email: String
    let passwordHash: String
    /// Whether an administrator has disabled it.
    let isDisabled: Bool
}

/// The data of an account to be made, checked.
package struct NewUser: Sendable {
    package let firstName: String
    package let lastName: String
    package let email: String
    let password: Password

    /// Checks what a client sent by the contract's rules.
    ///
    /// - Parameters:
    ///   - fullName: First and last word become the names; one word is both.
    ///   - email: The e-mail; spaces around it are dropped.
    ///   - password: The password; nil for one that could not be decrypted.
    /// - Throws: `InvalidInput` with every rule that is broken.
    init(fullName: String, email: String, password: Password?) throws(InvalidInput) {
        let words = fullName.split(whereSeparator: \.isWhitespace)
        let email = email.trimmingWhitespace()
        let complaints =
            Self.complaints(aboutName: fullName) + Self.complaints(aboutEmail: email)
            + Password.complaints(about: password)
        guard complaints.isEmpty, let first = words.first, let last = words.last, let password else {
            throw InvalidInput(complaints: complaints)
        }
        firstName = String(first)
        lastName = String(last)
        self.email = email
        self.password = password
    }

    private static func complaints(aboutName name: String) -> [Complaint] {
        let name = name.trimmingWhitespace()
        let blank = name.allSatisfy(\.isWhitespace) ? [Complaint(.fullName, .blank)] : []
        return blank + Complaint.about(name, .fullName)
    }

    private static func complaints(aboutEmail email: String) -> [Complaint] {
        var complaints = email.isEmpty ? [Complaint(.email, .blank)] : []
        if !isEmail(email) { complaints.append(Complaint(.email, .invalid)) }
        // The contract's rule decides on characters, so only the length can still be wrong.
        return complaints + Complaint.about(email, .email).filter { $0.problem != .invalid }
    }

    /// The original's rule `\A[^@]+@([^@\.]+\.)+[^@\.]+\z`, and no NUL.
    private static func isEmail(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        let halves = scalars.split(separator: "@", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !scalars.contains("\0") else { return false }
        let labels = halves[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}
