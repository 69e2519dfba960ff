/// What happened to an account.
enum AuditEvent: String, Sendable, CaseIterable {
    case signUp = "sign_up"
    case signIn = "sign_in"
    case signInFailed = "sign_in_failed"
    /// Sign-ins began to be refused for a while, since too many failed.
    case signInLimited = "sign_in_limited"
    case tokenCleared = "token_cleared"
    case allTokensCleared = "all_tokens_cleared"
    case sessionEnded = "session_ended"
    case passwordReset = "password_reset"
    case passwordResetFailed = "password_reset_failed"
    case photoDeleted = "photo_deleted"
    case accountDeleted = "account_deleted"
    case accountDeletionFailed = "account_deletion_failed"
    case accountDisabled = "account_disabled"
    case accountEnabled = "account_enabled"
}

/// Where a request came from, as far as it is written down.
struct RequestSource: Sendable {
    let address: ClientAddress
    let requestID: String
}
