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
    /// ``Selfie/signIn(email:code:)``, and calls that ask for a password or a code.
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
    let first_name: String
    let last_name: String
    let email: String
    let api_authtoken: Token?

    var account: Account { Account(id: id, firstName: first_name, lastName: last_name, email: email) }
}
