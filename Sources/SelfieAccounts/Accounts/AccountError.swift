/// Why an account can't be used.
package enum AccountError: Error {
    /// An administrator has disabled it. Only a user who gives the password is told so.
    case disabled
}
