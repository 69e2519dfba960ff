/// The name of a limit.
///
/// All limits are listed here.
package enum RateLimitName: String, Sendable, CaseIterable {
    /// Wrong passwords for one account, and sign-ups with an e-mail that has one.
    ///
    /// The two have separate counts. Wrong passwords from a known network of the account's user have another one.
    case signInPerAccount = "SIGNIN_PER_ACCOUNT"
    /// Wrong passwords from one address, for any accounts.
    case signInPerAddress = "SIGNIN_PER_ADDRESS"
    /// Password attempts for one account, correct ones included: each costs a hash.
    case passwordTriesPerAccount = "PASSWORD_TRIES_PER_ACCOUNT"
    /// Sign-ups from one address.
    case signUpPerAddress = "SIGNUP_PER_ADDRESS"
    /// Codes that are sent to one address, whichever way it is spelled.
    ///
    /// Those that are asked for from known networks of its account's user have another count.
    case codesPerAccount = "CODES_PER_ACCOUNT"
    /// Codes that are asked for from one address.
    case codesPerAddress = "CODES_PER_ADDRESS"
    /// Wrong codes for one account. Those from a known network of its user, and with sessions, have other counts.
    case codeTriesPerAccount = "CODE_TRIES_PER_ACCOUNT"
    /// Notices of a kind to one address. If it is not proven, all kinds count together.
    case noticesPerAddress = "NOTICES_PER_ADDRESS"
    /// Mails of one user's subscriptions.
    case changeMailsPerUser = "CHANGE_MAILS_PER_USER"
    /// Calls of `get_token` from one address.
    case getTokenPerAddress = "GET_TOKEN_PER_ADDRESS"
    /// Unknown tokens from one address.
    case tokenGuessesPerAddress = "TOKEN_GUESSES_PER_ADDRESS"
    /// Uploads of one user.
    case uploadsPerUser = "UPLOADS_PER_USER"
    /// Records that one user creates, changes or deletes, and changes of profile, blocks and roles.
    case recordWritesPerUser = "RECORD_WRITES_PER_USER"
    /// Records that one user sends to inboxes, and members that one user names as readers.
    case inboxSendsPerUser = "INBOX_SENDS_PER_USER"
    /// Exports of one user's data.
    case exportsPerUser = "EXPORTS_PER_USER"

    /// Whether it holds with `RATE_LIMITS=off`, too.
    package var isOfCodes: Bool {
        [.codesPerAccount, .codeTriesPerAccount, .noticesPerAddress, .changeMailsPerUser].contains(self)
    }

    /// The default limit.
    var standard: RateLimit {
        switch self {
        case .signInPerAccount: RateLimit(20, per: 15 * 60)
        case .signInPerAddress, .getTokenPerAddress, .tokenGuessesPerAddress: RateLimit(100, per: 15 * 60)
        case .passwordTriesPerAccount: RateLimit(240, per: 15 * 60)
        case .signUpPerAddress, .codesPerAddress: RateLimit(30, per: 3_600)
        case .codesPerAccount: RateLimit(3, per: 3_600)
        case .codeTriesPerAccount: RateLimit(20, per: 86_400)
        case .noticesPerAddress: RateLimit(10, per: 86_400)
        case .changeMailsPerUser: RateLimit(500, per: 86_400)
        case .uploadsPerUser: RateLimit(500, per: 3_600)
        case .recordWritesPerUser: RateLimit(600, per: 600)
        case .inboxSendsPerUser: RateLimit(300, per: 600)
        case .exportsPerUser: RateLimit(1, per: 3_600)
        }
    }
}

/// The limits of a service.
package struct RateLimits: Sendable, Equatable {
    private var limits: [RateLimitName: RateLimit]

    /// The usual limits.
    ///
    /// Change single values after making this.
    package init() {
        limits = Dictionary(uniqueKeysWithValues: RateLimitName.allCases.map { ($0, $0.standard) })
    }

    /// The limit of a name.
    package subscript(name: RateLimitName) -> RateLimit {
        get { limits[name] ?? name.standard }
        set { limits[name] = newValue }
    }
}
