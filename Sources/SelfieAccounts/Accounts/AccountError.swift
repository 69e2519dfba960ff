/// Why an account can't be used.
package enum AccountError: Error {
    /// An administrator has disabled it. Only a client with the right password gets this error.
    case disabled
}
