/// What is known of an account's address.
package enum EmailState: String, Sendable, CaseIterable, Encodable {
    /// Nobody has proven to get mail there.
    case unverified
    /// The account's user has proven it.
    case verified
    /// A mail server has refused a mail to it for good.
    case refuses

    /// The column of a statement on `users`.
    package static let column = """
        CASE WHEN email_refused_at IS NOT NULL THEN 'refuses' WHEN email_verified_at IS NOT NULL THEN 'verified' \
        ELSE 'unverified' END AS email_state
        """
}
