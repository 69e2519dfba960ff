/// What a code is for.
///
/// A code for one purpose is none for another.
package enum CodePurpose: String, Sendable, CaseIterable {
    /// Signs in, and confirms a change of address or the deletion of the account.
    case signIn = "signin"
    /// Gives the account a new password.
    case reset
    /// Proves a new address.
    case email
}
