import Encodings
import JSON
import Mail

/// The password of an account to be made.
package enum ChosenPassword: Sendable {
    /// As a client sent it; nil for one that could not be decrypted.
    case password(Password?)
    /// The account has none: its user signs in with codes.
    case none

    fileprivate var validationErrors: [ValidationError] {
        switch self {
        case .password(let password): Password.validationErrors(of: password)
        case .none: []
        }
    }

    fileprivate var value: Password? {
        switch self {
        case .password(let password): password
        case .none: nil
        }
    }
}

/// The data of an account to be made, checked.
package struct NewUser: Sendable {
    package let firstName: String
    package let lastName: String
    package let email: String
    /// Nil for an account without a password.
    let password: Password?
    let title: String
    /// The free fields of the profile.
    let fields: JSONValue

    /// Checks what a client sent by the contract's rules.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - email: The e-mail; spaces around it are dropped.
    ///   - password: The password, or none.
    ///   - profile: The rest of the profile.
    /// - Throws: `InvalidInput` with every rule that is broken.
    init(
        name: NewName,
        email: String,
        password: ChosenPassword,
        profile: NewProfile
    ) throws(InvalidInput) {
        let email = email.trimmingWhitespace()
        let title = profile.title.onOneLine()
        let validationErrors =
            name.validationErrors + Self.validationErrors(ofEmail: email) + password.validationErrors
            + ValidationError.all(of: title, .title) + ProfileFields.validationErrors(of: profile.fields)
        // Its user could never sign in.
        if validationErrors.isEmpty, password.value == nil, (try? MailAddress(email)) == nil {
            throw InvalidInput(validationErrors: [ValidationError(.email, .invalid)])
        }
        guard validationErrors.isEmpty, let (first, last) = name.firstAndLast else {
            throw InvalidInput(validationErrors: validationErrors)
        }
        firstName = first
        lastName = last
        self.email = email
        self.password = password.value
        self.title = title
        fields = profile.fields
    }

    /// The rules for an e-mail, without white space around it.
    static func validationErrors(ofEmail email: String) -> [ValidationError] {
        var validationErrors = email.isEmpty ? [ValidationError(.email, .blank)] : []
        if !isEmail(email) { validationErrors.append(ValidationError(.email, .invalid)) }
        // The contract's rule decides on characters. So only the length can still be wrong.
        return validationErrors + ValidationError.all(of: email, .email).filter { $0.reason != .invalid }
    }

    /// The original's rule `\A[^@]+@([^@\.]+\.)+[^@\.]+\z`, no NUL, and no more than 30 combining marks in a row.
    private static func isEmail(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        let halves = scalars.split(separator: "@", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !scalars.contains("\0"), !text.hasLongMarkRun else { return false }
        let labels = halves[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}
