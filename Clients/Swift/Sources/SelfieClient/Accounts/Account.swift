/// A user, as sign-up and sign-in tell.
public struct Account: Sendable, Hashable {
    /// The member's id: it never changes.
    public let id: String
    public let firstName: String
    public let lastName: String
    public let email: String
}

/// What a code from a mail is for.
public enum CodePurpose: String, Sendable {
    /// ``Selfie/signIn(email:code:isRemembered:)``, and calls that ask for a password or a code.
    case signIn = "signin"
    /// ``Selfie/recoverPassword(email:code:newPassword:)`` and ``Selfie/setPassword(_:code:)``.
    case reset
}

/// What proves to the service that the user is there.
public enum Proof: Sendable {
    case password(String)
    /// A code from a mail, for ``CodePurpose/signIn``.
    case code(String)
}

extension Proof: CustomStringConvertible, CustomReflectable {
    public var description: String { "(hidden)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The answers of the calls for accounts.
struct AccountAnswer: Decodable {
    let id: String
    private let firstName: String
    private let lastName: String
    private let email: String
    let token: Token?

    var account: Account { Account(id: id, firstName: firstName, lastName: lastName, email: email) }

    private enum CodingKeys: String, CodingKey {
        case id, email
        case firstName = "first_name"
        case lastName = "last_name"
        case token = "api_authtoken"
    }
}
