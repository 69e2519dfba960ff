/// Why an account can't be used.
package enum AccountError: Error {
    /// An administrator has disabled it. Only a client with the right password gets this error.
    case disabled
    /// Its address is not proven, and must be. Only a client with the right password gets this error.
    case emailUnverified
    /// It has a password, where only an account without one gets its first.
    case hasPassword
}
