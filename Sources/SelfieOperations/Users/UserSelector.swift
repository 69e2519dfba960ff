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
