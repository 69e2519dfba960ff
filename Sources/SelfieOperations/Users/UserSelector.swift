/// An account as it is named on the command line: by its id or its e-mail.
package enum UserSelector: Sendable, CustomStringConvertible {
    case id(Int)
    case email(String)

    /// - Parameter text: A number, or a text with `@`; nil for others.
    package init?(_ text: String) {
        if let id = Int(text), id > 0 {
            self = .id(id)
        } else if text.contains("@"), !text.unicodeScalars.contains("\0") {
            self = .email(text)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .id(let id): "\(id)"
        case .email(let email): email
        }
    }
}

package enum UserAdministrationError: Error, CustomStringConvertible {
    case noSuchUser(UserSelector)
    case notMigrated
    case unreachable

    package var description: String {
        switch self {
        case .noSuchUser(let selector): "There is no user \(selector)."
        case .notMigrated: "The database lacks migrations. Run: selfie migrate"
        case .unreachable: "The database can't be reached. Run selfie doctor to see why."
        }
    }
}
