import SelfieAccounts

/// An account as it is named on the command line: by its id, its e-mail, or its id as a member.
package enum UserSelector: Sendable, CustomStringConvertible {
    case id(Int)
    case email(String)
    case member(String)

    /// - Parameter text: A number, a text with `@`, or a member's id; nil for others.
    package init?(_ text: String) {
        if let id = Int(text), id > 0 {
            self = .id(id)
        } else if text.contains("@"), !text.unicodeScalars.contains("\0") {
            self = .email(text)
        } else if MemberID.isPossible(text) {
            self = .member(text)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .id(let id): "\(id)"
        case .email(let email): email
        case .member(let id): id
        }
    }
}

package enum AdministrationError: Error, CustomStringConvertible {
    case noSuchUser(UserSelector)
    case notMigrated
    case unreachable
    case passwordRefused
    case emailRefused
    case emailTaken

    package var description: String {
        switch self {
        case .noSuchUser(let selector): "There is no user \(selector)."
        case .notMigrated: "The database lacks migrations. Run: selfie migrate"
        case .unreachable: "The database can't be reached. Run selfie doctor to see why."
        case .passwordRefused:
            "A password has at least \(Password.minCharacters) characters and at most \(Password.maxBytes) bytes."
        case .emailRefused: "This is not an e-mail address; expected name@example.com."
        case .emailTaken: "Another account has this e-mail."
        }
    }
}
