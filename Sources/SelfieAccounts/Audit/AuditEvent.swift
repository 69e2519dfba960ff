/// What happened to an account.
package enum AuditEvent: String, Sendable, CaseIterable {
    case signUp = "sign_up"
    case signIn = "sign_in"
    /// A right password was sent with HEAD, so that no session began.
    case passwordChecked = "password_checked"
    case signInFailed = "sign_in_failed"
    /// Too many sign-ins failed, so more are refused. It is noted once for each window.
    case signInLimited = "sign_in_limited"
    /// The same for passwords with a token, sign-ups, calls of `get_token`, guesses at tokens, uploads, records and exports.
    case passwordLimited = "password_limited"
    case signUpLimited = "sign_up_limited"
    case getTokenLimited = "get_token_limited"
    case tokenGuessesLimited = "token_guesses_limited"
    case uploadsLimited = "uploads_limited"
    case recordWritesLimited = "record_writes_limited"
    case inboxSendsLimited = "inbox_sends_limited"
    case exportsLimited = "exports_limited"
    case tokenCleared = "token_cleared"
    case allTokensCleared = "all_tokens_cleared"
    case sessionEnded = "session_ended"
    case passwordReset = "password_reset"
    case passwordResetFailed = "password_reset_failed"
    /// By the command line, because it was forgotten.
    case passwordReplaced = "password_replaced"
    /// With a code, because it was forgotten.
    case passwordRecovered = "password_recovered"
    /// The first one of an account without a password, with a code.
    case passwordSet = "password_set"
    /// A code proved the address for the first time, so that the password before ended.
    case passwordEnded = "password_ended"
    /// A mail with a code was sent. It has no address: who asked for it is not kept until then.
    case codeSent = "code_sent"
    case codeFailed = "code_failed"
    case codesLimited = "codes_limited"
    case noticesLimited = "notices_limited"
    case emailChangeRequested = "email_change_requested"
    case emailChanged = "email_changed"
    case emailVerified = "email_verified"
    /// Another user has proven the address, which this account had not.
    case emailLost = "email_lost"
    case photoDeleted = "photo_deleted"
    /// All of the user's data was asked for.
    case export
    case accountDeleted = "account_deleted"
    case accountDeletionFailed = "account_deletion_failed"
    case accountDisabled = "account_disabled"
    case accountEnabled = "account_enabled"
    case quotaChanged = "quota_changed"
    case roleAdded = "role_added"
    case roleRemoved = "role_removed"
}

/// Where a request came from, as it is recorded.
package struct RequestSource: Sendable {
    package let address: ClientAddress
    let requestID: String

    /// The service's own work.
    static let none = RequestSource(address: .none, requestID: "none")

    /// - Parameters:
    ///   - address: The client's address.
    ///   - requestID: The request's id in answers and logs.
    package init(address: ClientAddress, requestID: String) {
        self.address = address
        self.requestID = requestID
    }
}
