/// An account, as its owner sees it.
package struct User: Sendable {
    package let id: Int
    package let firstName: String
    package let lastName: String
    package let email: String
    /// The id that other members see.
    package let memberID: String
    package let passwordHash: String
    /// Whether an administrator has disabled it.
    package let isDisabled: Bool
    package let emailState: EmailState
    /// Whether the user has proven the address, even if a server refuses it now.
    package let isEmailProven: Bool

    /// Stands for a hash in an account without a password; no password has it.
    static let noPasswordHash = "*"

    package var hasPassword: Bool { passwordHash != Self.noPasswordHash }
}

extension User {
    /// The last name in answers of railsauth's calls: a name of one word is first and last name there.
    package var railsLastName: String { lastName.isEmpty ? firstName : lastName }
}
