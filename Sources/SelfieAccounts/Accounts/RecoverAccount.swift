import Budgets
import Encodings
import JSON

/// Gives an account a new password, for a user who has forgotten it, by the command line.
///
/// The caller has checked that the account's user asks for it.
package struct RecoverAccount: Sendable {
    let users: UserStore
    let hasher: PasswordHasher

    /// - Parameters:
    ///   - users: The accounts.
    ///   - hasher: Hashes passwords.
    package init(users: UserStore, hasher: PasswordHasher) {
        self.users = users
        self.hasher = hasher
    }

    /// Replaces the password, and ends all sessions and all URLs of photos.
    ///
    /// - Parameters:
    ///   - password: The new one.
    ///   - userID: The account.
    /// - Returns: Whether there is such an account.
    /// - Throws: `InvalidInput`, `TooBusy`, `PostgresError`.
    package func setPassword(_ password: Password, ofUser userID: Int) async throws -> Bool {
        let password = try Password.checked(password)
        let caller = FairSemaphore.Caller(group: "command line", member: "user \(userID)")
        return try await users.replacePassword(ofUser: userID, with: try await hasher.hash(password, for: caller))
    }
}

/// Gives an account another e-mail, by the command line.
///
/// The caller has checked that the account's user gets mail there.
package struct ChangeEmail: Sendable {
    let users: UserStore

    /// - Parameter users: The accounts.
    package init(users: UserStore) {
        self.users = users
    }

    /// Changes the e-mail.
    ///
    /// Sessions stay valid.
    ///
    /// - Parameters:
    ///   - email: The new one; white space around it is dropped.
    ///   - userID: The account.
    /// - Returns: Whether there is such an account.
    /// - Throws: `InvalidInput`, also when another account has the e-mail, `PostgresError`.
    package func callAsFunction(_ email: String, ofUser userID: Int) async throws -> Bool {
        let email = email.trimmingWhitespace()
        let validationErrors = NewUser.validationErrors(ofEmail: email)
        guard validationErrors.isEmpty else { throw InvalidInput(validationErrors: validationErrors) }
        return try await users.changeEmail(ofUser: userID, to: email)
    }
}
